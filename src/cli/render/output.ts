import { isObject } from '../../config/json-object.ts';
import { tame } from './style.ts';

/** Bytes in an output, as they are told of. */
interface BytesPart {
  readonly mediaType: string;
  readonly name?: string;
  /** Base64. */
  readonly data: string;
}

/** The output of a tool for a person, or byte for byte for a pipe. */
export function renderOutput(output: unknown, isTTY: boolean): string {
  if (output === undefined) return '';
  if (!isTTY) return writeText(output);
  // The terminal of a person is not the tool's to repaint, and nobody reads base64.
  const only = findBytes(output);
  if (only !== undefined) return `${tame(describePart(only))}\n`;
  if (typeof output === 'string') return tame(writeText(output));
  return tame(`${JSON.stringify(output, (_key, value: unknown) => describeBytes(value), 2)}\n`);
}

/** What a file of the output holds: the bytes of the one part that it is or holds alone, else its text. */
export function outputContent(output: unknown): Uint8Array | string {
  const list = isObject(output) && Array.isArray(output.content) ? output.content : output;
  const only = findBytes(Array.isArray(list) && list.length === 1 ? list[0] : output);
  return only === undefined ? writeText(output) : Buffer.from(only.data, 'base64');
}

function writeText(output: unknown): string {
  if (typeof output === 'string') return output.endsWith('\n') ? output : `${output}\n`;
  return output === undefined ? '' : `${JSON.stringify(output, null, 2)}\n`;
}

/** `[image/png, 12 kB]`. */
function describePart({ mediaType, name, data }: BytesPart): string {
  const bytes = Buffer.byteLength(data, 'base64');
  return `[${name === undefined ? '' : `${name}, `}${mediaType}, ${formatBytes(bytes)}]`;
}

function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function describeBytes(value: unknown): unknown {
  const found = findBytes(value);
  return found === undefined ? value : describePart(found);
}

/** A part in the form of plugins or in that of MCP; undefined when it is none. */
function findBytes(value: unknown): BytesPart | undefined {
  if (!isObject(value)) return undefined;
  const { type, data, name, mimeType, mediaType = mimeType } = value;
  if (type !== 'image' && type !== 'audio' && type !== 'file') return undefined;
  if (typeof mediaType !== 'string' || typeof data !== 'string') return undefined;
  return { mediaType, data, ...(typeof name === 'string' && { name }) };
}
