import { setTimeout as wait } from 'node:timers/promises';
import { discoverOAuthServerInfo, registerClient, type StoredOAuthClientInformation } from '@modelcontextprotocol/client';
import Type, { type Static, type TSchema } from 'typebox';
import Value from 'typebox/value';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { cleanUntrustedText } from '../../permissions/untrusted-text.ts';
import { describeLoginFailure, type LoginStep, type LoginTools } from './login.ts';

const DeviceAnswer = Type.Object({
  device_code: Type.String({ maxLength: 4096 }),
  user_code: Type.String({ maxLength: 256 }),
  verification_uri: Type.String({ maxLength: 2048 }),
  verification_uri_complete: Type.Optional(Type.String({ maxLength: 2048 })),
  expires_in: Type.Number({ minimum: 1 }),
  interval: Type.Optional(Type.Number({ minimum: 0 })),
});
const Tokens = Type.Object({
  access_token: Type.String(),
  token_type: Type.String(),
  expires_in: Type.Optional(Type.Number()),
  refresh_token: Type.Optional(Type.String()),
  scope: Type.Optional(Type.String()),
});
const Refusal = Type.Object({ error: Type.String() });
const Endpoint = Type.Object({
  device_authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
  issuer: Type.String(),
});

const grant = 'urn:ietf:params:oauth:grant-type:device_code';
const usualIntervalS = 5;

/** A device login that was begun (RFC 8628): `finish` waits until a person agreed elsewhere. */
export interface DeviceLogin {
  readonly step: LoginStep;
  finish(signal: AbortSignal): Promise<void>;
}

/** Begins a login that a person ends on another device. Rejects with `mcp-unreachable`, also where the server has no such login. */
export async function beginDeviceLogin(tools: LoginTools, now: () => number = Date.now): Promise<DeviceLogin> {
  const { server, plan, state, fetch } = tools;
  const found = await discoverOAuthServerInfo(plan.url, { fetchFn: fetch }).catch((error: unknown) => {
    throw describeLoginFailure(error, server);
  });
  const metadata = found.authorizationServerMetadata;
  if (metadata === undefined || !Value.Check(Endpoint, metadata)) {
    throw new HotcellError('mcp-unreachable', `The MCP server "${server}" offers no login by device code.`, {
      fix: 'Leave auth.flow out of its entry, and log in with a browser.',
    });
  }
  const { device_authorization_endpoint: endpoint, token_endpoint: tokenEndpoint, issuer } = metadata;
  let client = await state.clientInformation({ issuer });
  if (client === undefined) {
    const clientMetadata = {
      ...state.clientMetadata,
      redirect_uris: [],
      grant_types: [grant, 'refresh_token'],
      response_types: [],
    };
    const registered = await registerClient(issuer, { metadata, clientMetadata, fetchFn: fetch });
    client = { ...registered, issuer };
    await state.saveClientInformation?.(client, { issuer });
  }
  const { client_id: clientId } = client;
  const resource = found.resourceMetadata?.resource;
  const scope = plan.auth?.scope ?? found.resourceMetadata?.scopes_supported?.join(' ');
  const answer = await post(DeviceAnswer, endpoint, {
    client_id: clientId,
    ...(scope === undefined ? {} : { scope }),
    ...(resource === undefined ? {} : { resource }),
  });
  const expiresAtMs = now() + answer.expires_in * 1000;
  const url = readWebUrl(answer.verification_uri_complete ?? answer.verification_uri, server);

  /** Throws the code of a refusal. */
  async function post<Schema extends TSchema>(schema: Schema, to: string, form: Record<string, string>): Promise<Static<Schema>> {
    const response = await fetch(to, {
      method: 'POST',
      headers: { accept: 'application/json', ...authorize(client) },
      body: new URLSearchParams(form),
    });
    const body: unknown = await response.json().catch(() => undefined);
    if (response.ok && Value.Check(schema, body)) return body;
    const code = Value.Check(Refusal, body) ? cleanUntrustedText(body.error, 60) : `status ${response.status}`;
    throw new HotcellError('mcp-unreachable', `The login to the MCP server "${server}" failed: ${code}.`, { facts: { code } });
  }

  return {
    step: { kind: 'device', url, userCode: cleanUntrustedText(answer.user_code, 64), expiresAtMs },
    async finish(signal) {
      let waitMs = (answer.interval ?? usualIntervalS) * 1000;
      while (now() < expiresAtMs) {
        await wait(waitMs, undefined, { signal });
        try {
          const tokens = await post(Tokens, tokenEndpoint, {
            grant_type: grant,
            device_code: answer.device_code,
            client_id: clientId,
            ...(resource === undefined ? {} : { resource }),
          });
          await state.saveTokens({ ...tokens, issuer }, { issuer });
          return;
        } catch (error) {
          const code = error instanceof HotcellError ? error.facts.code : undefined;
          if (code === 'slow_down') waitMs += usualIntervalS * 1000;
          else if (code !== 'authorization_pending') throw error;
        }
      }
      throw new HotcellError('mcp-unreachable', `Nobody agreed to the login to the MCP server "${server}" in time.`);
    },
  };
}

function authorize(client: StoredOAuthClientInformation | undefined): Record<string, string> {
  if (client?.client_secret === undefined) return {};
  const pair = [client.client_id, client.client_secret].map(encodeURIComponent).join(':');
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** What a person is told to open is a web page, and nothing else. */
export function readWebUrl(text: string, server: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url.href;
  throw new HotcellError('mcp-unreachable', `The login to the MCP server "${server}" begins at no web page.`);
}
