import { BoundedMap } from '../collections/bounded-map.ts';
import { readJson } from '../config/json-object.ts';
import { quotas } from '../config/quotas.ts';
import type { ModelProvider } from '../config/settings/model-settings.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { explainLostAnswer, readBody, type UpstreamHttp } from './upstream/http.ts';

interface KeptList {
  readonly models: Promise<readonly string[]>;
  untilMs: number;
  problem?: string;
}

const keptMs = 10 * 60_000;
const failureKeptMs = 60_000;
const maxLists = 64;
const maxModels = quotas['models.lists'].each.max;
const maxNameChars = 256;
const maxBytes = 4 * 1024 * 1024;
const timeoutMs = 10_000;

/** The models that providers say they have. */
export type ModelLists = ReturnType<typeof createModelLists>;

/** Creates the lists; nothing is asked before somebody reads one. */
export function createModelLists(parts: {
  readonly readKey: (provider: ModelProvider) => string | undefined;
  readonly http: UpstreamHttp;
  readonly now: () => number;
}) {
  const { readKey, http, now } = parts;
  const listByAddress = new BoundedMap<string, KeptList>(maxLists);

  async function ask(provider: ModelProvider): Promise<readonly string[]> {
    const { wireFormats } = await import('./wire/wire-formats.ts');
    const { listPath, fixedHeaders } = wireFormats[provider.format];
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await http.get(provider, { path: listPath, headers: fixedHeaders, key: readKey(provider), signal });
    try {
      const text = response.status === 200 ? await readBody(response, maxBytes) : undefined;
      if (response.status !== 200) throw refuseList(provider, `with its list of models, but with HTTP ${response.status}`);
      const list = readJson(text);
      if (list === undefined) throw refuseList(provider, 'with a list of models');
      return readNames(list);
    } finally {
      response.destroy();
    }
  }

  return {
    problemOf: (provider: ModelProvider): string | undefined => listByAddress.get(addressOf(provider))?.problem,
    /** Asks a provider at most every ten minutes, after a failure every minute. Never rejects: whoever does not answer has none. */
    read(provider: ModelProvider): Promise<readonly string[]> {
      const address = addressOf(provider);
      const kept = listByAddress.get(address);
      if (kept !== undefined && now() < kept.untilMs) return kept.models;
      const fresh: KeptList = {
        untilMs: now() + keptMs,
        models: ask(provider).catch((error: unknown) => {
          fresh.untilMs = now() + failureKeptMs;
          const target = { provider: provider.name, baseUrl: provider.baseUrl, timeoutMs };
          fresh.problem = error instanceof HotcellError ? error.message : explainLostAnswer(error, target).message;
          return [];
        }),
      };
      listByAddress.set(address, fresh);
      return fresh.models;
    },
  };
}

function addressOf({ baseUrl, format, keyName }: ModelProvider): string {
  return JSON.stringify([baseUrl, format, keyName]);
}

function refuseList({ name }: ModelProvider, what: string): HotcellError {
  return new HotcellError('model-failed', `The provider "${name}" did not answer ${what}.`);
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
