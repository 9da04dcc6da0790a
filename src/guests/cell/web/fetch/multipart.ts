/** multipart/form-data (RFC 7578), both ways. */
import { decodeText, encodeText, joinBytes } from '../base.ts';

/** One field of a parsed form; `filename` only for files. */
interface FormPart {
  readonly name: string;
  readonly filename: string | undefined;
  readonly type: string;
  readonly content: Uint8Array;
}

/** The bytes of a form, with this boundary between its fields. */
export function encodeMultipart<File extends { readonly name: string; readonly type: string }>(
  form: Iterable<[string, string | File]>,
  boundary: string,
  bytesOf: (file: File) => Uint8Array,
): Uint8Array {
  const chunks: Uint8Array[] = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(withLineBreaks(name))}"`;
    if (typeof value === 'string') {
      chunks.push(encodeText(`${head}\r\n\r\n${withLineBreaks(value)}\r\n`));
      continue;
    }
    const type = value.type || 'application/octet-stream';
    chunks.push(
      encodeText(`${head}; filename="${escapeName(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`),
      bytesOf(value),
      encodeText('\r\n'),
    );
  }
  chunks.push(encodeText(`--${boundary}--\r\n`));
  return joinBytes(chunks);
}

/** The fields of a form; throws TypeError when the bytes are not one. */
export function parseMultipart(bytes: Uint8Array, boundary: string): FormPart[] {
  const delimiter = encodeText(`\r\n--${boundary}`);
  const parts: FormPart[] = [];
  // The first delimiter may stand at the very start, without its line break.
  let at = startsWith(bytes, delimiter.subarray(2), 0) ? delimiter.length - 2 : find(bytes, delimiter, 0) + delimiter.length;
  if (at < delimiter.length - 2) throw broken();
  while (!(bytes[at] === 45 && bytes[at + 1] === 45)) {
    const headEnd = find(bytes, CRLF_CRLF, at);
    const end = headEnd < 0 ? -1 : find(bytes, delimiter, headEnd + 2);
    if (end < 0) throw broken();
    parts.push(readPart(decodeText(bytes.subarray(at, headEnd)), bytes.slice(headEnd + 4, end)));
    at = end + delimiter.length;
  }
  return parts;
}

const CRLF_CRLF = new Uint8Array([13, 10, 13, 10]);

function readPart(head: string, content: Uint8Array): FormPart {
  const disposition = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(head)?.[1] ?? '';
  const name = /(?:^|;)\s*name="([^"]*)"/i.exec(disposition)?.[1];
  if (name === undefined) throw broken();
  const filename = /(?:^|;)\s*filename="([^"]*)"/i.exec(disposition)?.[1];
  const type = /^content-type:\s*(\S.*?)\s*$/im.exec(head)?.[1] ?? 'text/plain';
  return { name: unescapeName(name), filename: filename === undefined ? undefined : unescapeName(filename), type, content };
}

function find(bytes: Uint8Array, wanted: Uint8Array, from: number): number {
  const [first = 0] = wanted;
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1))
    if (startsWith(bytes, wanted, at)) return at;
  return -1;
}

function startsWith(bytes: Uint8Array, wanted: Uint8Array, at: number): boolean {
  return wanted.every((byte, index) => bytes[at + index] === byte);
}

function withLineBreaks(value: string): string {
  return value.replace(/\r\n|\r|\n/g, '\r\n');
}

function escapeName(value: string): string {
  return value.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}

function unescapeName(value: string): string {
  return value.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%22', '"');
}

function broken(): TypeError {
  return new TypeError('The body is not a complete multipart form');
}
