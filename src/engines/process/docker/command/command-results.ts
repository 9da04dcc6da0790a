import { Buffer } from 'node:buffer';
import type { CommandFile } from '../../../../border/container-command.ts';
import { HotcellError } from '../../../../errors/hotcell-error.ts';
import { parseRelativePath } from '../../../../permissions/path-grammar.ts';

const maxEntries = 10_000;
const maxRefusedNames = 100;

/**
 * Gathers the files that a command left, as the container tells of them; what it tells is not trusted. More than `maxBytes` throws
 * `payload-too-large`.
 */
export function collectFiles(maxBytes: number) {
  const files: { path: string; parts: Buffer[] }[] = [];
  const refused: string[] = [];
  let current: Buffer[] | undefined;
  let bytes = 0;
  let entries = 0;
  return {
    /** One entry: kind (`f`, `d`, `o`), changed, size (64 bit), path. */
    addEntry: (payload: Buffer): void => {
      if (++entries > maxEntries) throw tooMuch(`more than ${maxEntries} files and folders`);
      current = undefined;
      if (payload.length < 11) throw new RangeError('an entry without a name');
      const kind = String.fromCharCode(payload.readUInt8(0));
      const isChanged = payload.readUInt8(1) === 1;
      const path = payload.subarray(10).toString('utf8');
      const parsed = parseRelativePath(path);
      // In the one way to write it, and as text.
      const isUsable = parsed.ok && parsed.segments.join('/') === path && Buffer.from(path).equals(payload.subarray(10));
      if (kind === 'd' && isUsable) return;
      if (kind !== 'f' || !isUsable) {
        if (refused.length < maxRefusedNames) refused.push(path.slice(0, 200).replaceAll(/[^\x20-\x7e]/g, '?'));
      } else if (isChanged) {
        current = [];
        files.push({ path, parts: current });
      }
    },
    addData: (payload: Buffer): void => {
      bytes += payload.length;
      if (bytes > maxBytes) throw tooMuch(`more than ${maxBytes} bytes of files`);
      current?.push(Buffer.from(payload));
    },
    /** Regular files that are new or changed, and what was refused: links, devices, pipes, names that no workspace has. */
    read: (): { readonly files: readonly CommandFile[]; readonly refused: readonly string[] } => ({
      files: files
        .map(({ path, parts }) => ({ path, data: Buffer.concat(parts) }))
        .sort((one, other) => (one.path < other.path ? -1 : 1)),
      refused,
    }),
  };
}

function tooMuch(what: string): HotcellError {
  return new HotcellError('payload-too-large', `The command left ${what}; they were not brought back.`, {
    fix: 'Have the command write less, or delete what nobody needs before it ends.',
  });
}

/** Beyond what is kept, so much is read and thrown away, so that a chatty command can come to its end. */
const maxThrownAwayBytes = 8 * 1024 * 1024;

/** Keeps the beginning of one output stream, `maxBytes` of it. */
export function keepOutput(maxBytes: number) {
  const parts: Buffer[] = [];
  let seen = 0;
  return {
    /** False once so much came beyond what is kept that the command is not worth its run any more. */
    add: (bytes: Buffer): boolean => {
      const room = maxBytes - seen;
      // A copy: the part is a view on a larger buffer of the socket.
      if (room > 0) parts.push(Buffer.from(bytes.subarray(0, room)));
      seen += bytes.length;
      return seen <= maxBytes + maxThrownAwayBytes;
    },
    read: () => Buffer.concat(parts),
    get isTruncated() {
      return seen > maxBytes;
    },
  };
}
