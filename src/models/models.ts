import type { TextGenerator } from '../capabilities/llm.ts';
import type { ModelProviderSettings, ModelSettings } from '../config/settings/model-settings.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { askServer } from './ask-server.ts';

/** A model as doors show it; never its key. */
export interface ModelView {
  readonly name: string;
  readonly baseUrl: string;
  readonly model: string;
  /** Name of the key. */
  readonly key?: string;
  readonly hasKey: boolean;
  readonly isDefault: boolean;
}

/** The models of the config. */
export interface Models extends TextGenerator {
  list(): ModelView[];
}

interface Parts {
  readonly settings: ModelSettings;
  /** The value of a secret or env value that may go to this URL; undefined when there is none. */
  readonly readKey: (name: string, baseUrl: string) => string | undefined;
}

const example =
  'models: { default: small, providers: { small: { baseUrl: https://api.example.com/v1, model: NAME, key: API_KEY } } }';

/** Creates the models. Nothing is loaded or asked before the first request. */
export function createModels({ settings, readKey }: Parts): Models {
  function choose(): string | undefined {
    const names = Object.keys(settings.providers);
    return settings.default !== '' ? settings.default : names.length === 1 ? names[0] : undefined;
  }

  function requireServer(): ModelProviderSettings & { readonly name: string; readonly keyValue: string | undefined } {
    const chosen = choose();
    const provider = chosen === undefined ? undefined : settings.providers[chosen];
    if (chosen === undefined || provider === undefined) throw describeMissing(Object.keys(settings.providers));
    const keyValue = provider.key === undefined ? undefined : readKey(provider.key, provider.baseUrl);
    if (provider.key !== undefined && keyValue === undefined) throw describeMissingKey(chosen, provider.key);
    return { ...provider, name: chosen, keyValue };
  }

  return {
    get maxTokens() {
      return settings.maxTokens;
    },
    check: () => void requireServer(),
    async generate(request, signal) {
      try {
        const { name, baseUrl, model, key: keyName, keyValue: key } = requireServer();
        return await askServer({ name, baseUrl, model, keyName, key, timeoutMs: settings.timeoutMs }, request, signal);
      } catch (error) {
        if (error instanceof HotcellError) return { ok: false, error, isBilled: false };
        throw error;
      }
    },
    list: () =>
      Object.entries(settings.providers).map(([name, { baseUrl, model, key }]) => ({
        name,
        baseUrl,
        model,
        ...(key === undefined ? {} : { key }),
        hasKey: key === undefined || readKey(key, baseUrl) !== undefined,
        isDefault: name === choose(),
      })),
  };
}

function describeMissing(names: readonly string[]): HotcellError {
  if (names.length > 1) {
    return new HotcellError('model-not-configured', `The config names ${names.length} models, but not which is asked.`, {
      fix: `Add the line models.default: one of ${names.join(', ')}.`,
    });
  }
  return new HotcellError('model-not-configured', 'The config names no model: models.providers is empty.', {
    fix: `Add it, as in: ${example}.`,
  });
}

function describeMissingKey(name: string, key: string): HotcellError {
  return new HotcellError('model-not-configured', `models.providers.${name}.key names "${key}", which has no value.`, {
    fix: `Set the environment variable ${key} of the daemon, or env.${key} in the config, or a secret: hotcell secret set ${key}.`,
  });
}
