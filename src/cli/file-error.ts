import { HotcellError } from '../errors/hotcell-error.ts';

/** Why the system refused a path that a command wants, and what helps. */
const reasons: Readonly<Record<string, readonly [why: string, fix: string]>> = {
  EACCES: ['this user may not open or write it', 'Give this user the right to it, or choose another folder.'],
  EPERM: ['this user may not change it', 'Give this user the right to it, or choose another folder.'],
  EROFS: ['it lies on a disk that is read-only', 'Choose a folder on a disk that can be written.'],
  ENOSPC: ['the disk is full', 'Free space on that disk.'],
  EDQUOT: ['the quota of this user is used up', 'Free space on that disk.'],
  EISDIR: ['it is a folder, where a file is wanted', 'Name a file, or move the folder out of the way.'],
  ENOTDIR: ['a part of the path is a file, where a folder is wanted', 'Choose another path.'],
  EEXIST: ['something of that name is there already', 'Move it out of the way, or choose another name.'],
  ENOENT: ['it is not there', 'Check the path.'],
  ELOOP: ['its links lead in a circle', 'Mend the links.'],
  ENAMETOOLONG: ['the path is too long', 'Choose a shorter one.'],
};

/** A refusal of the file system in a sentence with its path; every other failure as it is. */
export function explainFileError(error: unknown): unknown {
  if (error instanceof HotcellError || !(error instanceof Error) || !('code' in error && 'path' in error)) return error;
  const { code, path } = error;
  const reason = typeof code === 'string' && Object.hasOwn(reasons, code) ? reasons[code] : undefined;
  if (reason === undefined || typeof path !== 'string') return error;
  const [why, fix] = reason;
  return new HotcellError('file-failed', `${path} cannot be used: ${why} (${code}).`, { fix, cause: error });
}
