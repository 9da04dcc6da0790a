const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Base64 with padding. */
export function writeBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const word = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const digits = [18, 12, 6, 0].map((shift) => alphabet[(word >> shift) & 63]).join('');
    text += at + 3 <= bytes.length ? digits : digits.slice(0, bytes.length - at + 1).padEnd(4, '=');
  }
  return text;
}

/** The bytes of digits alone, without padding. */
export function readBase64(digits: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let word = 0;
  let held = 0;
  let at = 0;
  for (const digit of digits) {
    word = ((word << 6) | alphabet.indexOf(digit)) & 0xffffff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes[at++] = (word >> held) & 255;
  }
  return bytes;
}
