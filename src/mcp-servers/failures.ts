import { existsSync } from 'node:fs';
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client';
import { HotcellError } from '../errors/hotcell-error.ts';
import { cleanUntrustedText } from '../permissions/untrusted-text.ts';

/** Why a connection or a call failed, as a sentence for people. */
export function sayProblem(error: unknown): string {
  const own = findOwn(error);
  if (own !== undefined) return own.message;
  if (isLoginWanted(error)) return 'The server wants a login.';
  const status = findHttpStatus(error);
  const said = error instanceof Error ? error.message : String(error);
  if (status !== undefined) return `The server answers with the HTTP status ${status}: ${cleanUntrustedText(said, 300)}`;
  return cleanUntrustedText(said, 500);
}

/** Why a program did not become a server; `ending` is what it came to when it ended by itself. */
export function describeProgramFailure(
  error: unknown,
  { command, cwd }: { readonly command: string; readonly cwd?: string | undefined },
  ending: string | undefined,
): unknown {
  const code = findCode(error);
  const refuse = (message: string) => new HotcellError('mcp-unreachable', message, { cause: error });
  if (ending !== undefined) return refuse(cleanUntrustedText(ending, 500));
  // The system says the same of a program and of the folder in which it is to run.
  if (code === 'ENOENT' && cwd !== undefined && !existsSync(cwd))
    return refuse(`There is no folder "${cwd}", the cwd of its entry.`);
  if (code === 'ENOENT') return refuse(`There is no program "${command}": look at the command of its entry, and at the PATH.`);
  if (code === 'EACCES') return refuse(`The program "${command}" may not be started: it is not executable for this user.`);
  return error;
}

/** Why a server could not be connected to; `wantsLogin` is a fact of it. */
export function describeConnectFailure(error: unknown, server: string): HotcellError {
  const wantsLogin = isLoginWanted(error);
  const own = findOwn(error);
  // What a container lacks is got by a command, which another attempt does not do; a view shows the message alone.
  const missing = own !== undefined && /^(?:docker|image)-/.test(own.code) ? ` ${own.fix}` : '';
  return new HotcellError('mcp-unreachable', wantsLogin ? 'The server wants a login.' : `${sayProblem(error)}${missing}`, {
    cause: error,
    facts: { wantsLogin },
    ...(wantsLogin ? { fix: `Log in: hotcell mcp login ${server}` } : own === undefined ? {} : { fix: own.fix }),
  });
}

/** The status of an answer, wherever in the chain it stands. */
export function findHttpStatus(error: unknown): number | undefined {
  return causesOf(error).find((each) => each instanceof SdkHttpError)?.status;
}

function isLoginWanted(error: unknown): boolean {
  return causesOf(error).some((each) => each instanceof UnauthorizedError) || findHttpStatus(error) === 401;
}

/** Whatever else the library refuses is one answer: the calls beside it go on. */
const lostCodes: ReadonlySet<SdkErrorCode> = new Set([
  SdkErrorCode.ConnectionClosed,
  SdkErrorCode.NotConnected,
  SdkErrorCode.NotInitialized,
  SdkErrorCode.SendFailed,
]);

/** The connection cannot be used any more, or the server does not know it. */
export function isLost(error: unknown): boolean {
  const status = findHttpStatus(error);
  if (status !== undefined) return status === 401 || status === 403 || status === 404 || status >= 500;
  if (isLoginWanted(error)) return true;
  return findOwn(error)?.code === 'network-failed' || (error instanceof SdkError && lostCodes.has(error.code));
}

/** Why a call failed; `neverBegun` is a fact of it when nothing of it can have been done. `ending` is why the connection is over, if it is. */
export function describeCallFailure(error: unknown, server: string, ending?: string): HotcellError {
  const own = findOwn(error);
  if (own !== undefined && own.code !== 'network-failed') return own;
  if (error instanceof ProtocolError) {
    const said = cleanUntrustedText(error.message, 2000);
    return new HotcellError('mcp-tool-failed', `The server "${server}" answers: ${said}`, { cause: error });
  }
  return new HotcellError('mcp-unreachable', `The server "${server}" did not answer: ${ending ?? sayProblem(error)}`, {
    cause: error,
    facts: { neverBegun: findHttpStatus(error) === 404 || findCode(error) === 'ECONNREFUSED' },
    ...(isLoginWanted(error) ? { fix: `Log in: hotcell mcp login ${server}` } : {}),
  });
}

function findOwn(error: unknown): HotcellError | undefined {
  return causesOf(error).find((each) => each instanceof HotcellError);
}

/** The code of the operating system, wherever in the chain it stands. */
function findCode(error: unknown): string | undefined {
  const codes = causesOf(error).map((each) => ('code' in each ? String(each.code) : ''));
  return codes.find((code) => /^E[A-Z]+$/.test(code));
}

/** An error and what it was caused by, outermost first. */
function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}
