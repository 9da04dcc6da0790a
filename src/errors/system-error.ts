/** The code of an error of the system or of a library, such as ENOENT; undefined where it has none. */
export function readErrorCode(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

// What the system lacks for a moment. A folder on a network that is away says ESTALE or EIO.
const passingCodes: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'EIO',
  'ENOMEM',
  'ESTALE',
  'EAGAIN',
  'EBUSY',
  'EINTR',
  'ENOBUFS',
]);
// Such lacks in the words of a program that does not hand its codes on.
const passingWords =
  /\b(?:EMFILE|ENFILE|ENOMEM|EAGAIN)\b|too many open files|input\/output error|cannot allocate memory|stale (?:NFS )?file handle|resource temporarily unavailable/i;

/** Whether a failure says something of the machine at this moment and nothing of the file: worth another try, with nothing changed. */
export function isPassingError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return passingCodes.has(readErrorCode(error) ?? '') || isPassingMessage(error.message) || isPassingError(error.cause);
}

/** Whether a message that some other program wrote tells of the machine at this moment and nothing of the file. */
export function isPassingMessage(message: string): boolean {
  return passingWords.test(message);
}
