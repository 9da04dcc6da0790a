import { auth, type FetchLike, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { sayProblem } from '../failures.ts';
import type { HttpPlan } from '../server-plan.ts';
import type { LoginState } from './login-state.ts';

/** What a person has to do to log in; nothing when they are. */
export type LoginStep =
  | { readonly kind: 'done' }
  | { readonly kind: 'browser'; readonly url: string }
  | { readonly kind: 'device'; readonly url: string; readonly userCode: string; readonly expiresAtMs: number };

/** What a login works with. */
export interface LoginTools {
  readonly server: string;
  readonly plan: HttpPlan;
  readonly state: LoginState;
  readonly fetch: FetchLike;
  /** Tries to connect: says what the server wants of whoever comes without a login. */
  readonly tryConnection: (signal: AbortSignal) => Promise<void>;
}

/** Begins a login in a browser, which comes back to `redirectUrl`. Rejects with `mcp-unreachable`. */
export async function beginBrowserLogin(tools: LoginTools, redirectUrl: string, signal: AbortSignal): Promise<LoginStep> {
  const { server, plan, state, fetch } = tools;
  state.begin(redirectUrl);
  const scope = state.wantedScope;
  try {
    if (scope === undefined) await tools.tryConnection(signal);
    else await auth(state, { serverUrl: plan.url, scope, forceReauthorization: true, fetchFn: fetch });
  } catch (error) {
    if (state.opened === undefined) throw describeLoginFailure(error, server);
  }
  return state.opened === undefined ? { kind: 'done' } : { kind: 'browser', url: state.opened.href };
}

/** Ends a login with what the browser came back with. Rejects with `forbidden` or `mcp-unreachable`. */
export async function finishBrowserLogin({ server, plan, state, fetch }: LoginTools, answer: URLSearchParams): Promise<void> {
  state.requireState(answer);
  const transport = new StreamableHTTPClientTransport(plan.url, { fetch, authProvider: state });
  try {
    await transport.finishAuth(answer);
  } catch (error) {
    throw describeLoginFailure(error, server);
  }
}

/** Why a login failed. What the other side says is not repeated: it may be anybody's text. */
export function describeLoginFailure(error: unknown, server: string): HotcellError {
  if (error instanceof HotcellError) return error;
  const said = error instanceof UnauthorizedError ? 'nobody agreed to it' : sayProblem(error);
  return new HotcellError('mcp-unreachable', `The login to the MCP server "${server}" failed: ${said}`, { cause: error });
}
