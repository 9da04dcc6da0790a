import Type from 'typebox';
import type { Capability } from '../border/capability.ts';
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
const search = 'browser.search';

/**
 * `context.browser`: another way to say `context.tools.call('browser', …)`, with the same permission `tools=browser`; `search` is
 * `web_search`. The calls of one handler share a browser. Answers texts, and of a screenshot its base64.
 */
export function createBrowser(tools: Pick<Capability, 'answer'>): Capability {
  return {
    name: 'browser',
    operations: [...Object.keys(steps), search],
    async answer(request, user, signal) {
      const [first, second] = readArguments(request).args;
      const call =
        request.op === search
          ? { name: 'web_search', arguments: { query: first } }
          : { name: 'browser', arguments: { steps: steps[request.op]?.(first, second) } };
      const { payload } = await tools.answer({ ...request, op: 'tools.call', payload: JSON.stringify(call) }, user, signal);
      return { payload: readAnswer(payload) };
    },
  };
}

function readAnswer(payload: unknown): string {
  if (!isObject(payload) || !Array.isArray(payload.content)) return JSON.stringify(payload);
  // The first part says where the browser is; what was asked for comes after it.
  const [, ...parts] = payload.content;
  return parts.map((part: unknown) => (isObject(part) ? (part.text ?? part.data ?? '') : '')).join('\n');
}
