import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  copyFileSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** One way in which a program puts a new text into a file that is there. */
export type Save = (file: string, text: string) => void | Promise<void>;

const beside = (file: string, name: string) => join(dirname(file), name);

/** How editors and tools save, by name. */
export const savePatterns: Readonly<Record<string, Save>> = {
  'a shell redirect': (file, text) => writeFileSync(file, text),
  'write to a temporary file, then rename': (file, text) => {
    writeFileSync(beside(file, '.save.tmp'), text);
    renameSync(beside(file, '.save.tmp'), file);
  },
  'vim with a backup by rename': (file, text) => {
    writeFileSync(beside(file, '4913'), '');
    unlinkSync(beside(file, '4913'));
    renameSync(file, `${file}~`);
    const descriptor = openSync(file, 'w', 0o644);
    writeSync(descriptor, text);
    fsyncSync(descriptor);
    closeSync(descriptor);
    chmodSync(file, 0o644);
    unlinkSync(`${file}~`);
  },
  'vim with a backup by copy and a swap file': (file, text) => {
    const swap = beside(file, `.${basename(file)}.swp`);
    writeFileSync(swap, 'swap');
    copyFileSync(file, `${file}~`);
    writeInPlace(file, text);
    unlinkSync(`${file}~`);
    unlinkSync(swap);
  },
  'VS Code, truncate and write in place': (file, text) => {
    const descriptor = openSync(file, 'r+');
    ftruncateSync(descriptor, 0);
    writeSync(descriptor, text, 0);
    closeSync(descriptor);
  },
  'emacs with a lock link and a backup': (file, text) => {
    symlinkSync('me@host.1', beside(file, `.#${basename(file)}`));
    copyFileSync(file, `${file}~`);
    writeInPlace(file, text);
    unlinkSync(beside(file, `.#${basename(file)}`));
  },
  'JetBrains with two renames': (file, text) => {
    writeFileSync(`${file}___jb_tmp___`, text);
    renameSync(file, `${file}___jb_old___`);
    renameSync(`${file}___jb_tmp___`, file);
    unlinkSync(`${file}___jb_old___`);
  },
  'rsync with times kept': (file, text) => {
    const part = beside(file, `.${basename(file)}.Xy12Zz`);
    writeFileSync(part, text);
    utimesSync(part, 1_500_000_000, 1_500_000_000);
    renameSync(part, file);
  },
  'in place with the same size and the same time': (file, text) => {
    const { atime, mtime, size } = statSync(file);
    writeInPlace(file, `${text.trimEnd().padEnd(size - 1)}\n`);
    utimesSync(file, atime, mtime);
  },
  'in place with a time long ago': (file, text) => {
    writeInPlace(file, text);
    utimesSync(file, 1_000_000_000, 1_000_000_000);
  },
  'slow parts in place': async (file, text) => {
    const descriptor = openSync(file, 'w');
    const step = Math.ceil(text.length / 12);
    for (let start = 0; start < text.length; start += step) {
      writeSync(descriptor, text.slice(start, start + step));
      await pass(20);
    }
    closeSync(descriptor);
  },
  'truncate, think, write': async (file, text) => {
    writeFileSync(file, '');
    await pass(50);
    writeFileSync(file, text);
  },
  'a symlink that is swapped': (file, text) => {
    const target = beside(file, `_target-${basename(file)}`);
    writeFileSync(target, text);
    symlinkSync(basename(target), `${file}.swap.tmp`);
    renameSync(`${file}.swap.tmp`, file);
  },
  'a hard link that is swapped': (file, text) => {
    const original = beside(file, '_original.txt');
    rmSync(original, { force: true });
    writeFileSync(original, text);
    linkSync(original, `${file}.link.tmp`);
    renameSync(`${file}.link.tmp`, file);
  },
  'through another name of the same file': (file, text) => {
    const other = beside(file, '_other-name.ts');
    linkSync(file, other);
    writeInPlace(other, text);
  },
  'delete and create at once': (file, text) => {
    unlinkSync(file);
    writeFileSync(file, text);
  },
  'delete, think, create': async (file, text) => {
    unlinkSync(file);
    await pass(50);
    writeFileSync(file, text);
  },
  'an append': (file, text) => appendFileSync(file, `\n// saved again\n${text.replace('export default', 'void')}`),
  'sed -i': (file, text) => {
    const next = JSON.stringify(answerOf(text)).slice(1, -1);
    execFileSync('sed', ['-i', `s/=> "[^"]*"/=> "${next}"/`, file]);
  },
};

/** What a plugin made by `answering` answers. */
export function answerOf(text: string): string {
  return /=> "([^"]*)"/.exec(text)?.[1] ?? '';
}

/** The answer that is right for what lies in a file now. */
export function answerIn(file: string): string {
  return answerOf(readFileSync(file, 'utf8'));
}

/** Lets time pass the way a slow program does: the length of the pause is what is tried here. */
export async function pass(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

function writeInPlace(file: string, text: string): void {
  writeFileSync(file, text, { flag: 'r+' });
  const descriptor = openSync(file, 'r+');
  ftruncateSync(descriptor, Buffer.byteLength(text));
  closeSync(descriptor);
}
