import { type ModelProvider, type ModelSettings, readProvider } from '../config/settings/model-settings.ts';
import { HotcellError } from '../errors/hotcell-error.ts';

/** What keeps a provider from being asked, and what helps. */
export interface ProviderProblem {
  readonly message: string;
  readonly fix: string;
}

/** A model, where it is asked. */
export interface ModelPlace {
  readonly provider: ModelProvider;
  readonly model: string;
}

/** The names of a model, as keys are allowed it. */
export function namesOf({ provider, model }: ModelPlace): readonly [string, string] {
  return [`${provider.name}/${model}`, model];
}

/** Whether the config offers this model of the provider. */
export function isOffered({ provider, model }: ModelPlace): boolean {
  return provider.models === undefined || provider.models.includes(model) || provider.model === model;
}

/** Creates what reads providers, aliases and the default of the config, each time anew. */
export function createConfiguredModels(settings: ModelSettings, readKey: (provider: ModelProvider) => string | undefined) {
  let read:
    | { readonly from: ModelSettings['providers']; readonly providers: readonly ModelProvider[]; readonly rest: string }
    | undefined;

  function providers(): readonly ModelProvider[] {
    const { providers: from, timeoutMs, maxRetries } = settings;
    const rest = `${timeoutMs} ${maxRetries}`;
    if (read?.from === from && read.rest === rest) return read.providers;
    const found = Object.entries(from).flatMap(([name, setting]) => readProvider(name, setting, settings) ?? []);
    read = { from, providers: found, rest };
    return found;
  }

  function defaultName(): string | undefined {
    const [only, another] = providers();
    return settings.default !== '' ? settings.default : another === undefined ? only?.name : undefined;
  }

  function aliasOf(name: string): readonly string[] | undefined {
    return Object.hasOwn(settings.aliases, name) ? [settings.aliases[name] ?? []].flat() : undefined;
  }

  /** A name with its provider, or that of a provider; undefined for a bare one. */
  function locate(name: string): ModelPlace | undefined {
    const slash = name.indexOf('/');
    const provider = providers().find((each) => each.name === (slash < 0 ? name : name.slice(0, slash)));
    const model = slash < 0 ? provider?.model : name.slice(slash + 1);
    if (provider === undefined) return undefined;
    if (model === undefined || model === '') throw describeMissingModel(provider);
    return { provider, model };
  }

  function locateSafely(name: string): ModelPlace[] {
    try {
      return [locate(name) ?? []].flat();
    } catch {
      return [];
    }
  }

  function problemOf({ name, keyName, ...provider }: ModelProvider): ProviderProblem | undefined {
    if (keyName === undefined || readKey({ name, keyName, ...provider }) !== undefined) return undefined;
    const { known, keyHeader, baseUrl } = provider;
    const page = known?.keyPage === undefined ? '' : ` A key is made at ${known.keyPage}.`;
    const host = URL.parse(baseUrl)?.host ?? '';
    return {
      message: `The key "${keyName}" of models.providers.${name} has no value that may go to ${host}.`,
      fix: `Set the environment variable ${keyName} of the daemon, or env.${keyName} in the config, or a secret: hotcell secret set ${keyName} --host ${host} --header ${keyHeader}.${page}`,
    };
  }

  return { providers, defaultName, aliasOf, locate, locateSafely, problemOf };
}

function describeMissingModel({ name }: ModelProvider): HotcellError {
  return new HotcellError('model-not-configured', `No model of the provider "${name}" is named.`, {
    fix: `Add the line models.providers.${name}.model, or ask for ${name}/MODEL; hotcell models list --fetch shows what it has.`,
  });
}
