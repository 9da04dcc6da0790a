import { randomBytes, randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { collectFiles, keepOutput } from '../../../../../src/engines/process/docker/command/command-results.ts';
import { HotcellError } from '../../../../../src/errors/hotcell-error.ts';

/** As the first process of a container tells of a file. */
function entry(kind: string, path: string | Buffer, isChanged = true): Buffer {
  const head = Buffer.alloc(10);
  head.write(kind, 0, 'latin1');
  head.writeUInt8(isChanged ? 1 : 0, 1);
  return Buffer.concat([head, Buffer.from(path)]);
}

describe('collectFiles', () => {
  it('keeps regular files that changed, in order of their paths', () => {
    const collection = collectFiles(1000);
    collection.addEntry(entry('d', 'out'));
    collection.addEntry(entry('f', 'out/b'));
    collection.addData(Buffer.from('one '));
    collection.addData(Buffer.from('two'));
    collection.addEntry(entry('f', 'same', false));
    collection.addData(Buffer.from('not kept'));
    collection.addEntry(entry('f', 'a'));
    expect(collection.read()).toEqual({
      files: [
        { path: 'a', data: Buffer.alloc(0) },
        { path: 'out/b', data: Buffer.from('one two') },
      ],
      refused: [],
    });
  });

  it.each([
    '/etc/passwd',
    '../up',
    'a/../../up',
    '.git/config',
    'x/.env',
    '.ssh/id',
    'secrets/key',
    'a\\b',
    'a\nb',
    'a\0b',
    'a//b',
    './a',
    '.',
    '..',
  ])('refuses a name that no workspace has: %j', (path) => {
    const collection = collectFiles(1000);
    collection.addEntry(entry('f', path));
    collection.addData(Buffer.from('data'));
    const { files, refused } = collection.read();
    expect([files, refused.length]).toEqual([[], 1]);
    expect(refused[0]).toMatch(/^[\x20-\x7e]*$/);
  });

  it('refuses links, devices, pipes and names that are no text', () => {
    const collection = collectFiles(1000);
    for (const kind of ['o', 'l', 'c', '\0', 'x']) collection.addEntry(entry(kind, `name-${kind.charCodeAt(0)}`));
    collection.addEntry(entry('f', Buffer.from([0xff, 0xfe, 0x61])));
    expect(collection.read()).toEqual({ files: [], refused: expect.objectContaining({ length: 6 }) });
  });

  it('is bounded in bytes, entries and names of what it refused, whatever the container says of sizes', () => {
    const bytes = collectFiles(10);
    bytes.addEntry(entry('f', 'a'));
    expect(() => bytes.addData(Buffer.alloc(11))).toThrow(HotcellError);
    const unread = collectFiles(10);
    unread.addEntry(entry('f', 'a', false));
    expect(() => unread.addData(Buffer.alloc(11))).toThrow(/more than 10 bytes/);
    const entries = collectFiles(10);
    expect(() => {
      for (let number = 0; number < 20_000; number++) entries.addEntry(entry('d', `d${number}`));
    }).toThrow(/more than 10000 files/);
    const refused = collectFiles(10);
    for (let number = 0; number < 5000; number++) refused.addEntry(entry('o', 'x'.repeat(1000)));
    expect(refused.read().refused).toHaveLength(100);
    expect(refused.read().refused[0]).toHaveLength(200);
  });

  it('stands any bytes', () => {
    for (let round = 0; round < 2000; round++) {
      const collection = collectFiles(10_000);
      try {
        for (let step = 0; step < 5; step++) {
          if (randomInt(2) === 0) collection.addEntry(randomBytes(randomInt(0, 60)));
          else collection.addData(randomBytes(randomInt(0, 60)));
        }
        for (const { path } of collection.read().files) expect(path).not.toMatch(/^\/|(^|\/)\.\.?(\/|$)/);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
    }
  });
});

describe('keepOutput', () => {
  it('keeps the beginning and says when it is not worth to go on', () => {
    const output = keepOutput(5);
    expect([output.add(Buffer.from('abc')), output.add(Buffer.from('defg')), output.isTruncated]).toEqual([true, true, true]);
    expect(output.read().toString()).toBe('abcde');
    expect(output.add(Buffer.alloc(9_000_000))).toBe(false);
    expect(output.read().length).toBe(5);
  });

  it('does not hold what it was given: the parts are views on larger buffers', () => {
    const output = keepOutput(5);
    const given = Buffer.from('abc');
    output.add(given);
    given.fill(0);
    expect(output.read().toString()).toBe('abc');
  });
});
