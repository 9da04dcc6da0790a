import { budgets } from '../config/budgets.ts';
import type { ModelProvider } from '../config/settings/model-settings.ts';
import { BoundedMap } from '../queues/bounded-map.ts';
import { readBody, type UpstreamHttp } from './upstream/http.ts';

/** The models that providers say they have. */
export interface ModelLists {
  /** Asks a provider at most every ten minutes, after a failure every minute. Never rejects: whoever does not answer has none. */
  read(provider: ModelProvider): Promise<readonly string[]>;
}

interface KeptList {
  readonly models: Promise<readonly string[]>;
  untilMs: number;
}

const keptMs = 10 * 60_000;
const failureKeptMs = 60_000;
const maxLists = 64;
const maxModels = budgets['models.lists'].each.max;
const maxNameChars = 256;
const maxBytes = 4 * 1024 * 1024;
const timeoutMs = 10_000;

/** Creates the lists; nothing is asked before somebody reads one. */
export function createModelLists(parts: {
  readonly readKey: (provider: ModelProvider) => string | undefined;
  readonly http: UpstreamHttp;
  readonly now: () => number;
}): ModelLists {
  const { readKey, http, now } = parts;
  const listByAddress = new BoundedMap<string, KeptList>(maxLists);

  async function ask(provider: ModelProvider): Promise<readonly string[]> {
    const { wireFormats } = await import('./wire/wire-formats.ts');
    const { listPath, fixedHeaders } = wireFormats[provider.format];
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await http.get(provider, { path: listPath, headers: fixedHeaders, key: readKey(provider), signal });
    try {
      const text = response.status === 200 ? await readBody(response, maxBytes) : undefined;
      if (text === undefined) throw new TypeError(`No list of models: HTTP ${response.status}.`);
      return readNames(JSON.parse(text));
    } finally {
      response.destroy();
    }
  }

  return {
    read(provider) {
      const address = JSON.stringify([provider.baseUrl, provider.format, provider.keyName]);
      const kept = listByAddress.get(address);
      if (kept !== undefined && now() < kept.untilMs) return kept.models;
      const fresh: KeptList = {
        untilMs: now() + keptMs,
        models: ask(provider).catch(() => {
          fresh.untilMs = now() + failureKeptMs;
          return [];
        }),
      };
      listByAddress.set(address, fresh);
      return fresh.models;
    },
  };
}

/** `data` with `id`s, as OpenAI and Anthropic have it, or `models` with `name`s, as Gemini. */
function readNames(body: unknown): readonly string[] {
  const { data, models }: { data?: unknown; models?: unknown } = Object(body);
  const items: readonly unknown[] = Array.isArray(data) ? data : Array.isArray(models) ? models : Array.isArray(body) ? body : [];
  const names = items.flatMap((item) => {
    const { id, name, supportedGenerationMethods: can }: Readonly<Record<string, unknown>> = Object(item);
    if (Array.isArray(can) && !can.includes('generateContent')) return [];
    const found = typeof id === 'string' ? id : typeof name === 'string' ? name.replace(/^models\//, '') : '';
    return found === '' || found.length > maxNameChars ? [] : [found];
  });
  return [...new Set(names)].slice(0, maxModels);
}
