import { randomBytes } from 'node:crypto';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const timeDigits = 10;
const countDigits = 4;
const maxCount = 32 ** countDigits - 1;
const randomDigits = 12;
const pooledIds = 256;

/**
 * Creates a source of ids such as `exe_01k5f3v7qp0000x4c9t2mh8wnb`: ten digits of time, four that count within one
 * millisecond, twelve at random. They sort by time of creation, also when the clock steps back.
 */
export function createExecutionIds(now: () => number): () => string {
  let lastMs = 0;
  let time = '';
  let count = 0;
  let pool = Buffer.alloc(0);
  let used = 0;

  function drawRandom(): string {
    if (used >= pool.length) {
      pool = randomBytes(pooledIds * randomDigits);
      used = 0;
    }
    let text = '';
    for (let digit = 0; digit < randomDigits; digit++) text += alphabet.charAt((pool[used++] ?? 0) & 31);
    return text;
  }

  return () => {
    const ms = now();
    if (ms > lastMs || count >= maxCount) {
      lastMs = Math.max(ms, lastMs + 1);
      time = writeBase32(lastMs, timeDigits);
      count = 0;
    } else count++;
    return `exe_${time}${writeBase32(count, countDigits)}${drawRandom()}`;
  };
}

function writeBase32(value: number, digits: number): string {
  let text = '';
  let rest = value;
  for (let digit = 0; digit < digits; digit++) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
