import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import { discoverHooks } from '../../src/hooks/discover.ts';
import { readHookFile, readHookFiles, readHookSignature } from '../../src/hooks/hook-files.ts';

let folder: string;
let dir: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hotcell-hook-files-'));
  const made = folder;
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  dir = join(folder, 'hook');
  mkdirSync(dir);
  writeFileSync(join(dir, 'HOOK.md'), 'hook');
  writeFileSync(join(dir, 'handler.ts'), 'code');
  writeFileSync(join(folder, 'secret'), 'the secret of the host');
});

describe('readHookFiles', () => {
  it('reads every file in order, and the same files have the same hash', () => {
    mkdirSync(join(dir, 'lib'));
    writeFileSync(join(dir, 'lib', 'words.ts'), 'words');
    const { files, contentHash } = readHookFiles(dir);
    expect(files.map(({ path, data }) => [path, data.toString()])).toEqual([
      ['HOOK.md', 'hook'],
      ['handler.ts', 'code'],
      ['lib/words.ts', 'words'],
    ]);
    utimesSync(join(dir, 'HOOK.md'), new Date(), new Date(0));
    expect(readHookFiles(dir).contentHash).toBe(contentHash);
  });

  it.each([
    ['a changed byte', () => writeFileSync(join(dir, 'handler.ts'), 'cod3')],
    ['a new file', () => writeFileSync(join(dir, 'more.txt'), '')],
    ['a file moved', () => execFileSync('mv', [join(dir, 'handler.ts'), join(dir, 'index.ts')])],
    [
      'bytes moved from one file to the next',
      () => {
        writeFileSync(join(dir, 'HOOK.md'), 'hookc');
        writeFileSync(join(dir, 'handler.ts'), 'ode');
      },
    ],
  ])('has another hash and another signature after %s', (_what, change) => {
    const before = [readHookFiles(dir).contentHash, readHookSignature(dir)];
    change();
    expect(readHookFiles(dir).contentHash).not.toBe(before[0]);
    expect(readHookSignature(dir)).not.toBe(before[1]);
  });

  it.each([
    [
      'a link for HOOK.md',
      () => {
        rmSync(join(dir, 'HOOK.md'));
        symlinkSync(join(folder, 'secret'), join(dir, 'HOOK.md'));
      },
      '"HOOK.md" is a link',
    ],
    ['a link beside it', () => symlinkSync('/etc/passwd', join(dir, 'passwd')), '"passwd" is a link'],
    ['a link to a folder', () => symlinkSync(folder, join(dir, 'lib')), '"lib" is a link'],
    ['a pipe', () => execFileSync('mkfifo', [join(dir, 'pipe')]), '"pipe" is no regular file'],
    ['a huge file', () => writeFileSync(join(dir, 'HOOK.md'), Buffer.alloc(256 * 1024 + 1)), 'more than 262144 bytes'],
    [
      'too much in all',
      () => {
        for (let count = 0; count < 5; count++) writeFileSync(join(dir, `part${count}`), Buffer.alloc(250 * 1024));
      },
      'bytes in all',
    ],
    [
      'too many files',
      () => {
        for (let count = 0; count < 70; count++) writeFileSync(join(dir, `part${count}`), '');
      },
      'more than 64 files',
    ],
    [
      'too many entries',
      () => {
        for (let count = 0; count < 130; count++) mkdirSync(join(dir, `part${count}`));
      },
      'more than 128 entries',
    ],
    ['folders without end', () => mkdirSync(join(dir, 'a/b/c/d/e/f'), { recursive: true }), 'deeper than 4'],
  ])('refuses a folder with %s', (_what, change, said) => {
    change();
    expect(() => readHookFiles(dir)).toThrow(
      expect.objectContaining({ code: 'hook-invalid', message: expect.stringContaining(said) }),
    );
  });

  it('refuses a folder that is a link', () => {
    symlinkSync(dir, join(folder, 'other'));
    expect(() => readHookFiles(join(folder, 'other'))).toThrow('is a link');
    expect(readHookSignature(join(folder, 'other'))).toBeUndefined();
  });

  it('takes a hard link for what it is: a file whose bytes are part of the hash', () => {
    linkSync(join(folder, 'secret'), join(dir, 'linked'));
    expect(readHookFiles(dir).files.map(({ path }) => path)).toContain('linked');
  });
});

describe('discoverHooks', () => {
  it('finds hooks of the data folder and of skills, the first folder of two skills with one name, and follows no link', () => {
    const dataHooks = join(folder, 'hooks');
    const [one, two] = [join(folder, 'skills-1'), join(folder, 'skills-2')];
    for (const path of [
      join(dataHooks, 'guard'),
      join(dataHooks, '.hidden'),
      join(dataHooks, 'no name'),
      join(one, 'weather/hooks/audit'),
      join(one, 'plain'),
      join(two, 'weather/hooks/other'),
      join(two, 'mail/hooks/send'),
    ]) {
      mkdirSync(path, { recursive: true });
    }
    writeFileSync(join(dataHooks, 'file'), '');
    symlinkSync(dir, join(dataHooks, 'linked'));
    symlinkSync(join(two, 'mail'), join(one, 'linked-skill'));
    symlinkSync(dataHooks, join(one, 'plain/hooks'));
    const found = discoverHooks({ dataHooks, skillDirs: [one, two, join(folder, 'nowhere')] });
    expect(found.map(({ name, origin }) => [name, origin])).toEqual([
      ['guard', 'data'],
      ['mail/send', 'skill'],
      ['weather/audit', 'skill'],
    ]);
  });
});

describe('readHookFile', () => {
  it.each(['link', 'pipe'])('does not open a %s that was put there after the folder was looked at', (kind) => {
    const file = join(dir, 'swapped.ts');
    if (kind === 'link') symlinkSync(join(dir, 'handler.ts'), file);
    else execFileSync('mkfifo', [file]);
    expect(() => readHookFile(file, 'swapped.ts')).toThrow(HotcellError);
  });
});
