import { basename, extname } from 'node:path';
import type { Diagnostic } from '../plugin-types.ts';
import { maxFileBytes, type ReadFailure, type ReadInput } from './read-input.ts';

/** The endings of an entry file. */
export const entryExtensions: ReadonlySet<string> = new Set(['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx']);

/** Says why a file cannot be the entry of a plugin; undefined when it can. `file` is what the diagnostic names. */
export function checkEntry(file: string, read: ReadInput | ReadFailure): Diagnostic | undefined {
  const name = basename(file);
  if (/\.d\.[cm]?ts$/.test(name)) {
    return refuse(file, `"${file}" only declares types, so there is nothing to run.`, 'Name the plugin file without ".d".');
  }
  if (!entryExtensions.has(extname(name))) {
    return refuse(
      file,
      `"${file}" cannot be a plugin: its ending is none of ${[...entryExtensions].join(' ')}.`,
      'Rename the file, or move it out of the plugin folder.',
    );
  }
  if (typeof read === 'string') return refuse(file, `"${file}" ${failureText[read]}.`, failureFix[read]);
  if (read.text.includes('\0')) {
    return refuse(
      file,
      `"${file}" is binary: a plugin is text in UTF-8.`,
      'Save it as UTF-8 text, or move it out of the plugin folder.',
    );
  }
  if (read.text.trim() === '') {
    return refuse(file, `"${file}" is empty.`, 'Write: export default { name, description, handler }.');
  }
  return undefined;
}

/** What happened to a file that was not read, to be put behind its name. */
export const failureText: Readonly<Record<ReadFailure, string>> = {
  missing: 'does not exist',
  'not-regular': 'is not a regular file',
  'too-large': `is larger than ${maxFileBytes / 1024 / 1024} MB`,
  unreadable: 'cannot be read by the daemon',
  passing: 'could not be read just now: the machine lacks descriptors or memory, or its disk does not answer',
};

/** What helps against it. */
export const failureFix: Readonly<Record<ReadFailure, string>> = {
  missing: 'Create the file, or remove the folder.',
  'not-regular': 'Replace it by a regular file: pipes, devices, sockets and folders are not read.',
  'too-large': 'Keep data out of the code: read it through context.files or context.fetch.',
  unreadable: 'Allow the user of the daemon to read it: chmod u+r.',
  passing: 'Nothing to do: it is read again by itself. If this stays, raise ulimit -n for the daemon.',
};

function refuse(file: string, message: string, fix: string): Diagnostic {
  return { code: 'entry-invalid', message, file, fix };
}
