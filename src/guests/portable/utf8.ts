/** UTF-8 by the rules of the web: what is not valid becomes U+FFFD, once for each longest beginning of a character. */

/** True when the bytes are valid UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; ) {
    const { size, isValid } = readCharacter(bytes, at);
    if (!isValid) return false;
    at += size;
  }
  return true;
}

/** Text of any bytes. */
export function decodeUtf8(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const { size, code, isValid } = readCharacter(bytes, at);
    text += isValid ? String.fromCodePoint(code) : '\ufffd';
    at += size;
  }
  return text;
}

interface Character {
  readonly code: number;
  readonly size: number;
  readonly isValid: boolean;
}

function readCharacter(bytes: Uint8Array, at: number): Character {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return { code: lead, size: 1, isValid: true };
  const more = lead >= 0xc2 && lead <= 0xdf ? 1 : lead >= 0xe0 && lead <= 0xef ? 2 : lead >= 0xf0 && lead <= 0xf4 ? 3 : 0;
  if (more === 0) return { code: 0, size: 1, isValid: false };
  let code = lead & (0x3f >> more);
  for (let index = 1; index <= more; index++) {
    const byte = bytes[at + index];
    if (byte === undefined || byte < lowest(lead, index) || byte > highest(lead, index))
      return { code: 0, size: index, isValid: false };
    code = (code << 6) | (byte & 0x3f);
  }
  return { code, size: more + 1, isValid: true };
}

// The second byte excludes what could be written shorter, surrogates, and what is beyond U+10FFFF.
function lowest(lead: number, index: number): number {
  return index > 1 ? 0x80 : lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
}

function highest(lead: number, index: number): number {
  return index > 1 ? 0xbf : lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
}
