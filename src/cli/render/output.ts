import { tame } from './style.ts';

/** Bytes in an output: an image, a sound or a file, as plugins return them. */
interface BytesPart {
  readonly type: 'image' | 'audio' | 'file';
  readonly mediaType: string;
  readonly name?: string;
  readonly data: string;
}

/** The output of a tool for a person, or byte for byte for a pipe. */
export function renderOutput(output: unknown, isTTY: boolean): string {
  if (output === undefined) return '';
  if (!isTTY) return writeText(output);
  // The terminal of a person is not the tool's to repaint, and nobody reads base64.
  if (isBytesPart(output)) return `${tame(describePart(output))}\n`;
  if (typeof output === 'string') return tame(writeText(output));
  return tame(`${JSON.stringify(output, (_key, value: unknown) => (isBytesPart(value) ? describePart(value) : value), 2)}\n`);
}

/** What a file of the output holds: the bytes of the one part that it is or holds alone, else its text. */
export function outputContent(output: unknown): Uint8Array | string {
  const only = Array.isArray(output) && output.length === 1 ? output[0] : output;
  return isBytesPart(only) ? Buffer.from(only.data, 'base64') : writeText(output);
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

function isBytesPart(value: unknown): value is BytesPart {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('mediaType' in value) || !('data' in value))
    return false;
  const isKind = value.type === 'image' || value.type === 'audio' || value.type === 'file';
  return isKind && typeof value.mediaType === 'string' && typeof value.data === 'string';
}
