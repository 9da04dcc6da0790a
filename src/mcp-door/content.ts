import { type CallToolResult, type ContentBlock, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { isObject } from '../config/json-object.ts';
import type { HotcellError } from '../errors/hotcell-error.ts';
import type { ApprovalView } from '../operations/contracts/access/approvals.ts';
import type { ToolView } from '../operations/contracts/tools.ts';

/** What a call came to, as far as its content goes. */
export interface Ended {
  readonly status: string;
  readonly output?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly fix: string } | undefined;
  readonly warnings?: readonly string[] | undefined;
}

/** The result of a tool for an MCP client; `schema` is what the tool says of its output. */
export function toToolResult(ended: Ended, schema: ToolView['output'] | undefined): CallToolResult {
  if (ended.status !== 'success') return { isError: true, content: [text(sayFailure(ended))] };
  const { output, warnings = [] } = ended;
  const content = [...toContent(output), ...warnings.map((warning) => text(`Warning: ${warning}`))];
  // What a schema promises is sent as data, too: clients check it against the schema.
  return schema === undefined ? { content } : { content, structuredContent: output };
}

/** One sentence that a model can act on. */
export function sayFailure({ status, error }: Ended): string {
  if (error === undefined) return `The call ended as ${status}.`;
  const { code, message, fix } = error;
  // What plugins throw need not end as a sentence.
  const said = /[.!?…]$/.test(message) ? message : `${message}.`;
  return message.includes(fix) ? `${said} (${code})` : `${said} ${fix} (${code})`;
}

/** An output as parts of content: a text, a part, a list of parts or `{ content: parts }`; everything else as JSON. */
export function toContent(output: unknown): ContentBlock[] {
  if (output === undefined || output === null) return [];
  if (typeof output === 'string') return [text(output)];
  const only = toPart(output);
  if (only !== undefined) return [only];
  const list = isObject(output) && Array.isArray(output.content) ? output.content : output;
  const parts = Array.isArray(list) && list.length > 0 ? list.map(toPart) : [];
  if (parts.length > 0 && parts.every((part) => part !== undefined)) return parts;
  return [text(JSON.stringify(output))];
}

/** One part, in Hotcell's own form or in that of MCP; undefined when it is none. */
export function toPart(part: unknown): ContentBlock | undefined {
  if (!isObject(part)) return undefined;
  const { type, data, text: words, mediaType, mimeType = mediaType, uri, name, resource } = part;
  const kept = keepNotes(part);
  if (type === 'text' && typeof words === 'string') return { type, text: words, ...kept };
  if ((type === 'image' || type === 'audio') && typeof data === 'string' && typeof mimeType === 'string') {
    return { type, data, mimeType, ...kept };
  }
  if (type === 'file' && typeof data === 'string' && typeof mimeType === 'string') {
    const fileName = typeof name === 'string' ? name : 'file';
    return { type: 'resource', resource: { uri: `file:///${encodeURIComponent(fileName)}`, mimeType, blob: data }, ...kept };
  }
  if (type === 'resource' && isObject(resource)) {
    const contents = toContents(resource);
    return contents === undefined ? undefined : { type, resource: contents, ...kept };
  }
  if (type === 'resource_link' && typeof uri === 'string') {
    const { title, description, size } = part;
    return {
      type,
      uri,
      name: typeof name === 'string' ? name : uri,
      ...(typeof title === 'string' ? { title } : {}),
      ...(typeof description === 'string' ? { description } : {}),
      ...(typeof mimeType === 'string' ? { mimeType } : {}),
      ...(typeof size === 'number' ? { size } : {}),
      ...kept,
    };
  }
  return undefined;
}

/** The contents of a resource: text, or base64 as `blob`. */
export type Contents = { readonly uri: string; readonly mimeType?: string } & (
  | { readonly text: string }
  | { readonly blob: string }
);

/** Contents as MCP has them; undefined when it is something else. */
export function toContents({ uri, mimeType, text: words, blob }: Readonly<Record<string, unknown>>): Contents | undefined {
  if (typeof uri !== 'string') return undefined;
  const head = { uri, ...(typeof mimeType === 'string' ? { mimeType } : {}) };
  if (typeof words === 'string') return { ...head, text: words };
  return typeof blob === 'string' ? { ...head, blob } : undefined;
}

function keepNotes({ annotations, _meta }: Readonly<Record<string, unknown>>) {
  return { ...(isObject(annotations) ? { annotations } : {}), ...(isObject(_meta) ? { _meta } : {}) };
}

function text(words: string): ContentBlock {
  return { type: 'text', text: words };
}

/** Tells a model whom to ask where its client cannot: the call waits, and the same call again finds it. */
export function sayElsewhere(questions: readonly ApprovalView[]): CallToolResult {
  const lines = questions.map(({ id, question }) => `${question} A person answers it with: hotcell approve ${id}`);
  const words = [
    'This call waits for a person, whom this client cannot ask.',
    ...lines,
    'Tell the user. Once it is answered, call the tool again with the same arguments: that gives the result of this very call.',
  ].join('\n');
  return { isError: true, content: [text(words)] };
}

/** An error of ours in the words of the protocol. */
export function toProtocolError(error: HotcellError): ProtocolError {
  const code = error.status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, `${error.message} ${error.fix}`, { code: error.code, ...error.facts });
}
