import type { ElicitResult } from '@modelcontextprotocol/client';
import type { CapabilityTable } from '../../border/capability.ts';
import { isObject } from '../../config/json-object.ts';
import { cleanUntrustedText } from '../../permissions/untrusted-text.ts';
import type { HostedCall } from '../../tools/hosted/hosted-types.ts';

/** What a server asks in the middle of a call: JSON Schema of a flat object. */
export interface ServerForm {
  readonly message: string;
  readonly schema: unknown;
}

/** Asks whoever may answer for a call. */
export type AskForm = (form: ServerForm, call: HostedCall) => Promise<ElicitResult>;

const maxMessageChars = 1900;

/** Asks as `context.ask` does: a question of the call, which may wait for days. What is no form that people are asked is declined. */
export function createFormAsker(capabilities: Pick<CapabilityTable, 'answer'>): AskForm {
  return async ({ message, schema }, { user, signal }) => {
    const payload = JSON.stringify({ message: cleanUntrustedText(message, maxMessageChars) || 'The server asks.', schema });
    const answer = await capabilities.answer({ op: 'ask', payload }, user, signal);
    const said: unknown = answer.ok ? JSON.parse(answer.payload) : undefined;
    if (!isObject(said) || said.action !== 'accept') return { action: 'decline' };
    return { action: 'accept', content: readContent(said.content) };
  };
}

/** Fields of a form hold texts, numbers, yes or no, and lists of texts. */
function readContent(content: unknown): NonNullable<ElicitResult['content']> {
  const fields: Array<[string, string | number | boolean | string[]]> = [];
  for (const [name, value] of Object.entries(isObject(content) ? content : {})) {
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    if (isPlain) fields.push([name, value]);
    else if (Array.isArray(value)) fields.push([name, value.filter((each) => typeof each === 'string')]);
  }
  return Object.fromEntries(fields);
}
