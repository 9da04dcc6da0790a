import type { ElicitResult } from '@modelcontextprotocol/client';
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

/** Asks a question that is answered with yes or no. */
export type Confirm = (question: string, call: HostedCall) => Promise<boolean>;

const maxMessageChars = 1200;
const maxFields = 20;

/** A form as a question: who says yes accepts the form with what it proposes; one that needs more is declined. */
export function createFormByConfirm(confirm: Confirm): AskForm {
  return async ({ message, schema }, call) => {
    const proposed = readProposal(schema);
    if (proposed === undefined) return { action: 'decline' };
    const fields = Object.entries(proposed).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
    const said = cleanUntrustedText(message, maxMessageChars);
    const question = fields.length === 0 ? said : `${said} (${cleanUntrustedText(fields.join(', '), 600)})`;
    return (await confirm(question, call)) ? { action: 'accept', content: proposed } : { action: 'decline' };
  };
}

/** The defaults of a form; undefined when it asks for a value that it does not propose. */
function readProposal(schema: unknown): NonNullable<ElicitResult['content']> | undefined {
  const { properties, required } = isObject(schema) ? schema : {};
  const fields = Object.entries(isObject(properties) ? properties : {});
  if (fields.length > maxFields) return undefined;
  const proposed = fields.flatMap(([name, field]) => {
    const value = isObject(field) ? field.default : undefined;
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    return isPlain ? [[name, value] as const] : [];
  });
  const names = new Set(proposed.map(([name]) => name));
  const wanted = Array.isArray(required) ? required : [];
  return wanted.every((name) => names.has(name)) ? Object.fromEntries(proposed) : undefined;
}
