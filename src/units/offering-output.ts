import { isObject } from '../config/json-object.ts';
import type { OfferingKind } from './offering.ts';
import type { JsonSchema } from './tool-manifest.ts';
import { findUriFault } from './uri-template.ts';

/** One message of a prompt; `content` is a part such as `{ type: 'text', text }`. */
export interface PromptMessage {
  readonly role: 'user' | 'assistant';
  readonly content: Readonly<Record<string, unknown>>;
}

/** What a prompt answers. */
export interface PromptOutput {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
}

/** One piece of a resource: its text, or its bytes in base64. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

const text = { type: 'string' };
const part = { type: 'object', required: ['type'], properties: { type: text } };
const content = { anyOf: [text, part, { type: 'array', items: { anyOf: [text, part] } }] };
const message = {
  anyOf: [text, { type: 'object', required: ['content'], properties: { role: { enum: ['user', 'assistant'] }, content } }],
};
const messages = { type: 'array', items: message };
const bytes = { type: 'object', required: ['data', 'mediaType'], properties: { data: text, mediaType: text } };
const described = { uri: text, mimeType: text };
const piece = {
  anyOf: [
    text,
    bytes,
    { type: 'object', required: ['text'], properties: { ...described, text } },
    { type: 'object', required: ['blob'], properties: { ...described, blob: { anyOf: [text, bytes] } } },
  ],
};
const pieces = { type: 'array', items: piece };

/** What the functions of prompts and resources may return, as JSON; the calls of anything else end as `output-invalid`. */
export const outputSchemas: Readonly<Record<OfferingKind | 'completion', JsonSchema>> = {
  prompt: { anyOf: [text, messages, { type: 'object', required: ['messages'], properties: { description: text, messages } }] },
  resource: {
    anyOf: [...piece.anyOf, pieces, { type: 'object', required: ['contents'], properties: { contents: pieces } }],
  },
  completion: { type: 'array', items: text },
};

/** Brings what a prompt returned to messages with one part each. */
export function toPromptOutput(output: unknown): PromptOutput {
  const written = isObject(output) && !Array.isArray(output) ? output : { messages: Array.isArray(output) ? output : [output] };
  const { description } = written;
  const list: readonly unknown[] = Array.isArray(written.messages) ? written.messages : [];
  return { ...(typeof description === 'string' && { description }), messages: list.flatMap(toMessages) };
}

function toMessages(written: unknown): PromptMessage[] {
  const { role, content: said } = isObject(written) ? written : { role: 'user', content: written };
  const parts: readonly unknown[] = Array.isArray(said) ? said : [said];
  return parts.map((each) => ({
    role: role === 'assistant' ? 'assistant' : 'user',
    content: isObject(each) ? each : { type: 'text', text: String(each) },
  }));
}

/** Brings what a resource returned to its contents; what a piece does not say of itself is that of the resource. */
export function toResourceContents(
  output: unknown,
  resource: { readonly uri: string; readonly mimeType?: string },
): readonly ResourceContents[] {
  const written = isObject(output) && Array.isArray(output.contents) ? output.contents : output;
  const list: readonly unknown[] = Array.isArray(written) ? written : [written];
  return list.map((each) => toContents(each, resource));
}

function toContents(piece: unknown, { uri, mimeType }: { readonly uri: string; readonly mimeType?: string }): ResourceContents {
  if (!isObject(piece)) return { uri, mimeType: mimeType ?? 'text/plain', text: String(piece) };
  const own = typeof piece.mimeType === 'string' ? piece.mimeType : mimeType;
  const address = typeof piece.uri === 'string' && findUriFault(piece.uri) === undefined ? piece.uri : uri;
  if (typeof piece.text === 'string') return { uri: address, ...(own !== undefined && { mimeType: own }), text: piece.text };
  // Bytes come out of a sandbox as `{ type, mediaType, data }`.
  const sent = isObject(piece.blob) ? piece.blob : piece;
  const guessed = typeof sent.mediaType === 'string' ? sent.mediaType : undefined;
  const type = own ?? guessed;
  const blob = typeof piece.blob === 'string' ? piece.blob : String(sent.data);
  return { uri: address, ...(type !== undefined && { mimeType: type }), blob };
}
