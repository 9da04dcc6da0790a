import type { Settings } from '../../src/config/schema.ts';
import type { WireFormatName } from '../../src/models/wire/wire-format.ts';
import type { DaemonOptions } from '../../src/operations/daemon-types.ts';
import { startSmallDaemon } from '../small-daemon.ts';
import { startProvider } from './provider-server.ts';

/** What goes below the address of a provider, by format. */
const basePaths: Record<WireFormatName, string> = {
  'openai-chat': '/v1',
  'openai-responses': '/v1',
  anthropic: '',
  gemini: '/v1beta',
};
export const formats: readonly WireFormatName[] = ['openai-chat', 'openai-responses', 'anthropic', 'gemini'];

/** A daemon with one provider of each format, named `chat`, `responses`, `anthropic` and `gemini`; all are one raw server. */
export async function openGateway(
  plugins: Readonly<Record<string, string>> = {},
  settings: Settings = {},
  more: (url: string) => NonNullable<Settings['models']> = () => ({}),
  log?: DaemonOptions['log'],
) {
  const provider = await startProvider();
  const providers = Object.fromEntries(
    formats.map((format) => {
      const baseUrl = `${provider.url}${basePaths[format]}`;
      return [nameOf(format), { baseUrl, format, model: 'm-1', key: 'PROVIDER_KEY', maxRetries: 0 }];
    }),
  );
  const added = more(provider.url);
  const small = await startSmallDaemon(
    plugins,
    {
      env: { PROVIDER_KEY: 'provider-secret' },
      ...settings,
      models: { ...added, providers: { ...providers, ...added.providers } },
    },
    { listen: true, ...(log && { log }) },
  );
  const { url = '', token } = small.daemon;
  return {
    ...small,
    url,
    token,
    provider,
    post: (path: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
      fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      }),
    get: (path: string, headers: Record<string, string> = {}) =>
      fetch(url + path, { headers: { authorization: `Bearer ${token}`, ...headers } }),
    async close() {
      await small.close();
      await provider.close();
    },
  };
}

/** What `openGateway` gives. */
export type GatewayHouse = Awaited<ReturnType<typeof openGateway>>;

/** The name of the provider of a format. */
export const nameOf = (format: WireFormatName): string => format.replace('openai-', '');

/** A request of a client of the format, with one tool of its own; where it goes and what it sends. */
export function requestOf(
  format: WireFormatName,
  model: string,
  isStreamed: boolean,
  names: readonly string[] = ['weather', 'time'],
) {
  const parameters = { type: 'object', properties: {} };
  switch (format) {
    case 'openai-chat':
      return {
        path: '/v1/chat/completions',
        body: {
          model,
          stream: isStreamed,
          messages: [{ role: 'user', content: 'Hi' }],
          tools: names.map((name) => ({ type: 'function', function: { name, parameters } })),
        },
      };
    case 'openai-responses':
      return {
        path: '/v1/responses',
        body: {
          model,
          stream: isStreamed,
          input: 'Hi',
          tools: names.map((name) => ({ type: 'function', name, parameters, strict: false })),
        },
      };
    case 'anthropic':
      return {
        path: '/v1/messages',
        body: {
          model,
          stream: isStreamed,
          max_tokens: 100,
          messages: [{ role: 'user', content: 'Hi' }],
          tools: names.map((name) => ({ name, input_schema: parameters })),
        },
      };
    case 'gemini':
      return {
        path: `/v1beta/models/${model}:${isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        body: {
          contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
          tools: [{ functionDeclarations: names.map((name) => ({ name, parametersJsonSchema: parameters })) }],
        },
      };
  }
}
