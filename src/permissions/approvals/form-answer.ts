import { isObject } from '../../config/json-object.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { AnswerContent, Approval } from './approval-types.ts';
import { readForm } from './form.ts';
import { describeField, type FormField, findFieldFault } from './form-field.ts';

const maxFormBytes = 64 * 1024;
/** A model's message may hold a picture. */
const maxClientBytes = 1024 * 1024;
const maxRoots = 1000;

/**
 * Checks what goes with an answer: a question of kind `ask` that is approved has content that fits its form, with the defaults filled
 * in; no other answer has any. Throws `body-invalid`.
 */
export function readAnswerContent(
  { id, kind, details }: Pick<Approval, 'id' | 'kind' | 'details'>,
  answer: 'approved' | 'denied',
  given: unknown,
): AnswerContent | undefined {
  if (kind !== 'ask' || answer === 'denied') {
    if (given === undefined) return undefined;
    throw refuse('content goes with the approval of a question of kind ask alone.');
  }
  const { method, schema } = details;
  const content = given ?? {};
  if (!isObject(content)) throw refuse('content must be an object.');
  const bytes = Buffer.byteLength(JSON.stringify(content));
  const maxBytes = method === undefined ? maxFormBytes : maxClientBytes;
  if (bytes > maxBytes) throw refuse(`content has ${bytes} bytes of JSON; at most ${maxBytes} are taken.`);
  if (method === undefined) return fillForm(readForm(schema).fields, content, id);
  const fault = method === 'roots/list' ? findRootsFault(content) : findMessageFault(content);
  if (fault !== undefined) throw refuse(`content must be ${fault}.`);
  return content;
}

function fillForm(fields: readonly FormField[], given: AnswerContent, id: string): AnswerContent {
  const names = fields.map(({ name }) => name);
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  const faults = unknown.slice(0, 5).map((name) => `${JSON.stringify(name.slice(0, 64))} is not asked for`);
  const entries = fields.flatMap((field): Array<[string, unknown]> => {
    const value = Object.hasOwn(given, field.name) ? given[field.name] : field.default;
    if (value === undefined && !field.isRequired) return [];
    const expected = value === undefined ? describeField(field) : findFieldFault(field, value);
    if (expected !== undefined) faults.push(`${field.name} must be ${expected}${value === undefined ? ', and is missing' : ''}`);
    return [[field.name, value]];
  });
  if (faults.length > 0)
    throw refuse(`content does not fit the form: ${faults.join('; ')}.`, `See what it asks for: hotcell approve ${id}`);
  return Object.fromEntries(entries);
}

function findMessageFault({ role, content, model }: AnswerContent): string | undefined {
  const isPart = isObject(content) || (Array.isArray(content) && content.every(isObject));
  const isMessage = (role === 'assistant' || role === 'user') && isPart && typeof model === 'string';
  return isMessage ? undefined : 'the message of a model: {role, content: {type, …}, model}';
}

function findRootsFault({ roots }: AnswerContent): string | undefined {
  const areRoots = Array.isArray(roots) && roots.length <= maxRoots && roots.every(isRoot);
  return areRoots ? undefined : `{roots: [{uri, name?}, …]} with at most ${maxRoots} of them`;
}

function isRoot(root: unknown): boolean {
  return isObject(root) && typeof root.uri === 'string' && (root.name === undefined || typeof root.name === 'string');
}

function refuse(message: string, fix?: string): HotcellError {
  return new HotcellError('body-invalid', `The answer is not taken: ${message}`, { fix });
}
