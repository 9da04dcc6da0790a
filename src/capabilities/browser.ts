import Type from 'typebox';
import type { Capability, CarryOut } from '../border/capability.ts';
import { isObject } from '../config/json-object.ts';
import { createPayloadReader } from './payload.ts';

const readArguments = createPayloadReader(
  Type.Object({ args: Type.Array(Type.Unknown(), { maxItems: 16 }) }, { additionalProperties: false }),
);

/** What plugins of OrcBot ask a browser for, as the steps of the tool `browser`. */
const steps: Readonly<Record<string, (first: unknown, second: unknown) => readonly object[]>> = {
  'browser.navigate': (url) => [{ action: 'goto', url }, { action: 'text' }],
  'browser.click': (selector) => [{ action: 'click', selector }, { action: 'text' }],
  'browser.type': (selector, text) => [{ action: 'type', selector, text }],
  'browser.press': (key) => [{ action: 'press', key }],
  'browser.getText': (selector) => [{ action: 'text', ...(selector === undefined ? {} : { selector }) }],
  'browser.screenshot': () => [{ action: 'screenshot' }],
};

/**
 * `context.browser`: another way to say `context.tools.call('browser', …)`, with the same permission `tools=browser`; `search` is
 * `web_search`. The calls of one handler share a browser. Answers texts, and of a screenshot its base64.
 */
export function createBrowser(callTool: CarryOut): Capability {
  const asCall =
    (describe: (first: unknown, second: unknown) => object): CarryOut =>
    async (request, user, signal) => {
      const [first, second] = readArguments(request).args;
      const payload = JSON.stringify(describe(first, second));
      const answer = await callTool({ ...request, op: 'tools.call', payload }, user, signal);
      return { payload: readAnswer(answer.payload) };
    };
  const browsing = Object.entries(steps).map(([operation, describe]): [string, CarryOut] => [
    operation,
    asCall((first, second) => ({ name: 'browser', arguments: { steps: describe(first, second) } })),
  ]);
  const search = asCall((query) => ({ name: 'web_search', arguments: { query } }));
  return { operations: { ...Object.fromEntries(browsing), 'browser.search': search } };
}

function readAnswer(payload: unknown): string {
  if (!isObject(payload) || !Array.isArray(payload.content)) return JSON.stringify(payload);
  // The first part says where the browser is; what was asked for comes after it.
  const [, ...parts] = payload.content;
  return parts.map((part: unknown) => (isObject(part) ? (part.text ?? part.data ?? '') : '')).join('\n');
}
