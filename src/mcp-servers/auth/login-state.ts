import { randomBytes } from 'node:crypto';
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { McpLoginTable } from '../../store/tables/access/mcp-approvals.ts';
import type { HttpPlan } from '../server-plan.ts';

/** What of a login is kept over restarts. */
interface KeptLogin {
  /** For which URL: another one is another server. */
  readonly url: string;
  readonly client?: StoredOAuthClientInformation | undefined;
  readonly tokens?: StoredOAuthTokens | undefined;
  /** What the server asked for beyond what was granted. */
  readonly wantedScope?: string | undefined;
}

/** The login to one server: what the library reads and keeps, and where a person has to go. */
export interface LoginState extends OAuthClientProvider {
  /** From now on a person is there: returns what the library wants them to open, as soon as it says so. */
  begin(redirectUrl: string): void;
  readonly opened: URL | undefined;
  /** What a server wanted beyond what it was granted. */
  readonly wantedScope: string | undefined;
  hasTokens(): boolean;
  /** Throws `forbidden` when the answer is not to the question that was asked. */
  requireState(answer: URLSearchParams): void;
  forget(): boolean;
}

/** What a login is made of. */
export interface LoginParts {
  readonly server: string;
  readonly plan: HttpPlan;
  readonly table: McpLoginTable;
  /** The secret that the operator's entry names for the client, if it does. */
  readonly clientSecret: () => string | undefined;
  /** Takes values out of whatever leaves the daemon. */
  readonly learn: (name: string, value: string) => void;
}

/** Where a browser comes back to when nobody says otherwise. */
export const defaultCallbackPort = 7421;

/** Opens the login to a server, with what an earlier one left. */
export function openLoginState({ server, plan, table, clientSecret, learn }: LoginParts): LoginState {
  const { auth = {} } = plan;
  let kept = readKept(table, server, plan.url.href);
  let verifier: string | undefined;
  let state: string | undefined;
  let discovery: OAuthDiscoveryState | undefined;
  let opened: URL | undefined;
  let redirectUrl = `http://127.0.0.1:${auth.callbackPort ?? defaultCallbackPort}/callback`;
  learnTokens(kept.tokens);

  function learnTokens(tokens: StoredOAuthTokens | undefined): void {
    for (const value of [tokens?.access_token, tokens?.refresh_token]) {
      if (value !== undefined && value.length >= 8) learn(`mcp:${server}`, value);
    }
  }

  function keep(next: KeptLogin): void {
    kept = next;
    table.put({ server, stateJson: JSON.stringify(next) });
  }

  const secret = clientSecret();
  return {
    get redirectUrl() {
      return redirectUrl;
    },
    ...(auth.clientMetadataUrl === undefined ? {} : { clientMetadataUrl: auth.clientMetadataUrl }),
    get clientMetadata(): OAuthClientMetadata {
      return {
        client_name: 'Hotcell',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: secret === undefined ? 'none' : 'client_secret_basic',
        ...(auth.scope === undefined ? {} : { scope: auth.scope }),
      };
    },
    state() {
      state = randomBytes(24).toString('base64url');
      return state;
    },
    clientInformation() {
      if (auth.clientId === undefined) return kept.client;
      return { client_id: auth.clientId, ...(secret === undefined ? {} : { client_secret: secret }) };
    },
    saveClientInformation: (client) => keep({ ...kept, client }),
    tokens: () => kept.tokens,
    saveTokens(tokens) {
      learnTokens(tokens);
      keep({ ...kept, wantedScope: undefined, tokens });
    },
    redirectToAuthorization(url) {
      opened = url;
      const wantedScope = url.searchParams.get('scope');
      if (wantedScope !== null && kept.tokens !== undefined) keep({ ...kept, wantedScope });
    },
    saveCodeVerifier(value) {
      verifier = value;
    },
    codeVerifier() {
      if (verifier === undefined) throw new HotcellError('conflict', `No login to the MCP server "${server}" is under way.`);
      return verifier;
    },
    saveDiscoveryState(found) {
      discovery = found;
    },
    discoveryState: () => discovery,
    invalidateCredentials(scope) {
      const isAll = scope === 'all';
      if (isAll || scope === 'tokens') keep({ ...kept, tokens: undefined });
      if (isAll || scope === 'client') keep({ ...kept, client: undefined });
      if (isAll || scope === 'verifier') verifier = undefined;
      if (isAll || scope === 'discovery') discovery = undefined;
    },
    begin(url) {
      if (url !== redirectUrl && auth.clientId === undefined && auth.clientMetadataUrl === undefined) {
        // A client is registered for where its browser comes back to.
        keep({ ...kept, client: undefined });
      }
      redirectUrl = url;
      opened = undefined;
      discovery = undefined;
    },
    get opened() {
      return opened;
    },
    get wantedScope() {
      return kept.wantedScope;
    },
    hasTokens: () => kept.tokens !== undefined,
    requireState(answer) {
      const said = answer.get('state');
      if (state !== undefined && said === state) return;
      throw new HotcellError(
        'forbidden',
        `The answer does not belong to the login to the MCP server "${server}" that was begun.`,
        {
          fix: `Begin anew: hotcell mcp login ${server}`,
        },
      );
    },
    forget() {
      kept = { url: plan.url.href };
      verifier = undefined;
      discovery = undefined;
      return table.remove(server);
    },
  };
}

function readKept(table: McpLoginTable, server: string, url: string): KeptLogin {
  const row = table.list().find((each) => each.server === server);
  if (row === undefined) return { url };
  const read: KeptLogin = JSON.parse(row.stateJson);
  return read.url === url ? read : { url };
}
