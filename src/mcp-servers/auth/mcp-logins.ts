import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { McpLoginTable } from '../../store/tables/access/mcp-approvals.ts';
import type { HttpPlan } from '../server-plan.ts';
import { beginDeviceLogin, type DeviceLogin, readWebUrl } from './device-login.ts';
import { beginBrowserLogin, finishBrowserLogin, type LoginStep, type LoginTools } from './login.ts';
import { type LoginState, openLoginState } from './login-state.ts';

/** Logins to servers, begun and kept. */
export type McpLogins = ReturnType<typeof createMcpLogins>;

/** Opens the logins. */
export function createMcpLogins(parts: {
  readonly table: McpLoginTable;
  /** The value of a secret that an entry of the config names. */
  readonly readSecrets: (server: string, text: string) => string;
  readonly learn: (name: string, value: string) => void;
  readonly fetchFor: (server: string, plan: HttpPlan) => LoginTools['fetch'];
  /** Connects once, with what there is of a login. */
  readonly tryConnection: (server: string, plan: HttpPlan, provider: OAuthClientProvider, signal: AbortSignal) => Promise<void>;
}) {
  const states = new Map<string, { readonly plan: string; readonly state: LoginState }>();
  const begun = new Map<string, LoginTools & { readonly device?: DeviceLogin }>();

  function stateOf(server: string, plan: HttpPlan): LoginState {
    const key = JSON.stringify([plan.url.href, plan.auth]);
    const known = states.get(server);
    if (known?.plan === key) return known.state;
    const { clientSecret } = plan.auth ?? {};
    const state = openLoginState({
      server,
      plan,
      table: parts.table,
      clientSecret: () => (clientSecret === undefined ? undefined : parts.readSecrets(server, clientSecret)),
      learn: parts.learn,
    });
    states.set(server, { plan: key, state });
    return state;
  }

  return {
    /** What the library reads tokens from, and refreshes them with; undefined where nobody logged in. */
    providerFor(server: string, plan: HttpPlan): OAuthClientProvider | undefined {
      if (plan.auth === undefined) return undefined;
      const state = stateOf(server, plan);
      return state.hasTokens() ? state : undefined;
    },
    /** Rejects with `mcp-unreachable`. */
    async begin(
      server: string,
      plan: HttpPlan,
      { redirectUrl, signal }: { readonly redirectUrl: string | undefined; readonly signal: AbortSignal },
    ): Promise<LoginStep> {
      const state = stateOf(server, plan);
      const tools: LoginTools = {
        server,
        plan,
        state,
        fetch: parts.fetchFor(server, plan),
        tryConnection: (trySignal) => parts.tryConnection(server, plan, state, trySignal),
      };
      if (plan.auth?.flow === 'device') {
        const device = await beginDeviceLogin(tools);
        begun.set(server, { ...tools, device });
        return device.step;
      }
      const step = await beginBrowserLogin(tools, redirectUrl ?? String(state.redirectUrl), signal);
      if (step.kind !== 'browser') return step;
      begun.set(server, tools);
      return { kind: 'browser', url: readWebUrl(step.url, server) };
    },
    /** Waits for the other device, where there is one. Rejects with `conflict` when no login was begun. */
    async finish(
      server: string,
      { answer, signal }: { readonly answer: URLSearchParams | undefined; readonly signal: AbortSignal },
    ): Promise<void> {
      const tools = begun.get(server);
      if (tools === undefined || (tools.device === undefined && answer === undefined)) {
        throw new HotcellError('conflict', `No login to the MCP server "${server}" is under way.`, {
          fix: `Begin one: hotcell mcp login ${server}`,
        });
      }
      if (tools.device !== undefined) await tools.device.finish(signal);
      else if (answer !== undefined) await finishBrowserLogin(tools, answer);
      begun.delete(server);
    },
    /** False when nobody was logged in. */
    forget(server: string, plan: HttpPlan): boolean {
      begun.delete(server);
      return stateOf(server, plan).forget();
    },
  };
}
