/** The media type of bytes that say nothing of themselves, by how the common formats begin. */

/** First bytes as Latin-1 text; `.` stands for any byte. */
const beginnings: readonly (readonly [string, string])[] = [
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['GIF8', 'image/gif'],
  ['RIFF....WEBP', 'image/webp'],
  ['....ftypavif', 'image/avif'],
  ['....ftyphei', 'image/heic'],
  ['BM....\0\0\0\0', 'image/bmp'],
  ['II*\0', 'image/tiff'],
  ['MM\0*', 'image/tiff'],
  ['\0\0\x01\0', 'image/x-icon'],
  ['RIFF....WAVE', 'audio/wav'],
  ['ID3', 'audio/mpeg'],
  ['\xff\xfb', 'audio/mpeg'],
  ['\xff\xf3', 'audio/mpeg'],
  ['OggS', 'audio/ogg'],
  ['fLaC', 'audio/flac'],
  ['....ftypM4A', 'audio/mp4'],
  ['....ftyp', 'video/mp4'],
  ['\x1aE\xdf\xa3', 'video/webm'],
  ['%PDF-', 'application/pdf'],
  ['PK\x03\x04', 'application/zip'],
  ['\x1f\x8b', 'application/gzip'],
  ['\0asm', 'application/wasm'],
];
const maxBeginning = 16;

/** The type of the bytes; text is told apart from other bytes by being UTF-8. */
export function findMediaType(bytes: Uint8Array, readText: (bytes: Uint8Array) => string | undefined): string {
  const head = String.fromCharCode(...bytes.subarray(0, maxBeginning));
  for (const [start, type] of beginnings) if (beginsWith(head, start)) return type;
  const text = readText(bytes);
  // With a NUL in it, it only happens to be readable as text.
  if (text === undefined || text.includes('\0')) return 'application/octet-stream';
  return /^\s*(?:<\?xml[^>]*>\s*)?<svg[\s>]/.test(text) ? 'image/svg+xml' : 'text/plain';
}

function beginsWith(head: string, start: string): boolean {
  if (head.length < start.length) return false;
  for (let index = 0; index < start.length; index++) {
    if (start[index] !== '.' && start[index] !== head[index]) return false;
  }
  return true;
}
