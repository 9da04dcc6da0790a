import { HostRefusal } from './host-refusal.ts';

/** The parameters of a sealed key nest four deep. */
const maxDepth = 8;
const tags = { integer: 0x02, sequence: 0x30 } as const;

/**
 * How much work a key under a passphrase asks for before it opens: the product of all numbers of its parameters, which are
 * rounds (PBKDF2), or cost, block size and parallelization (scrypt), and the length of a derived key. Throws HostRefusal for
 * what is not plain DER.
 */
export function countSealedWork(der: Buffer): number {
  const whole = readElement(der, 0, der.length);
  return whole.tag === tags.sequence ? multiply(der, whole.start, whole.end, 1) : 1;
}

function multiply(der: Buffer, start: number, end: number, depth: number): number {
  if (depth > maxDepth) throw unreadable();
  let product = 1;
  for (let at = start; at < end; ) {
    const element = readElement(der, at, end);
    if (element.tag === tags.integer) product *= Math.max(1, readInteger(der.subarray(element.start, element.end)));
    else if (element.tag === tags.sequence) product *= multiply(der, element.start, element.end, depth + 1);
    at = element.end;
  }
  return product;
}

function readElement(der: Buffer, at: number, end: number): { tag: number; start: number; end: number } {
  const [tag = 0, first = 0xff] = der.subarray(at, Math.min(at + 2, end));
  const size = first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + size;
  // A length that is open, or longer than any text that comes here, is not DER.
  if (first === 0x80 || size > 4 || start > end) throw unreadable();
  const stop = start + (size === 0 ? first : der.readUIntBE(at + 2, size));
  if (stop > end) throw unreadable();
  return { tag, start, end: stop };
}

function readInteger(bytes: Buffer): number {
  return bytes.reduce((number, byte) => number * 256 + byte, 0);
}

function unreadable(): HostRefusal {
  return new HostRefusal('arguments-invalid', 'The key under a passphrase is not written in DER.');
}
