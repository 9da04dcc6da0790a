import { HotcellError } from '../../errors/hotcell-error.ts';
import { readErrorCode } from '../../errors/system-error.ts';
import { mountOf } from '../../permissions/path-grammar.ts';

/** The error that a guest gets for a failed file operation: its own path, never the host's. Unknown faults stay as they are. */
export function describeFileError(error: unknown, path: string): unknown {
  const shown = JSON.stringify(path);
  switch (readErrorCode(error)) {
    case 'ENOENT':
      return fail(mountOf(path) === undefined ? `There is no ${shown} in the workspace.` : `There is no ${shown}.`, error);
    case 'ENOTDIR':
    case 'ELOOP':
    case 'ENXIO': {
      const message = `${shown} leads through something that is no folder or file; links are not followed.`;
      return new HotcellError('file-refused', message, {
        cause: error,
      });
    }
    case 'EISDIR':
      return fail(`${shown} is a folder, not a file.`, error);
    case 'EEXIST':
      return fail(`${shown} exists already.`, error);
    case 'ENOTEMPTY':
      return fail(`The folder ${shown} is not empty.`, error, 'Pass recursive: true to delete what is in it.');
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return fail(`The daemon has no right to do this to ${shown}.`, error, 'Check the owner and mode of the file.');
    case 'ENAMETOOLONG':
      return new HotcellError('file-refused', `${shown} is too long for the file system.`, { cause: error });
    case 'ENOSPC':
    case 'EDQUOT':
      return new HotcellError('storage-full', `The disk is full; ${shown} was not changed.`, { cause: error });
    default:
      return error;
  }
}

function fail(message: string, cause: unknown, fix?: string): HotcellError {
  return new HotcellError('file-failed', message, { cause, fix });
}
