import type { Caller } from '../callers/caller.ts';
import { type ModelProvider, type ModelSettings, readProvider } from '../config/settings/model-settings.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { findNearNames, suggestNearNames } from '../errors/near-names.ts';
import { globMatches } from '../permissions/matching.ts';
import type { ModelLists } from './model-lists.ts';
import type { AskedBy, UpstreamTarget } from './upstream.ts';

/** Who asks, and what for: a key's rule `models` holds for what it asks for itself, not for what a granted plugin asks. */
export type CatalogAsker = Pick<AskedBy, 'caller' | 'purpose'>;

/** A model as clients see it. */
export interface CatalogModel {
  /** `provider/model`, or an alias. */
  readonly name: string;
  readonly provider: string;
  /** As the provider knows it. */
  readonly model: string;
  readonly isDefault: boolean;
  /** What an alias stands for: the first is asked, the others after it failed. */
  readonly aliasOf?: readonly string[];
}

/** A provider of the config; never its key. */
export interface ProviderState {
  readonly provider: ModelProvider;
  readonly isDefault: boolean;
  /** What keeps it from being asked, and what helps. */
  readonly problem?: { readonly message: string; readonly fix: string };
  /** Why nothing is known of the models that it lists, where somebody asked. */
  readonly listProblem?: string;
}

interface Parts {
  /** Read anew each time. */
  readonly settings: ModelSettings;
  /** The value of a key that may go to the provider; undefined when there is none. */
  readonly readKey: (provider: ModelProvider) => string | undefined;
  readonly lists: ModelLists;
}

interface Place {
  readonly provider: ModelProvider;
  readonly model: string;
}

const maxNameChars = 300;
const example = 'models: { providers: { openai: {} } }, with its key in OPENAI_API_KEY';

/** Which models there are, and where each is asked. Reads the config each time, so that an edit holds from the next request on. */
export type ModelCatalog = ReturnType<typeof createModelCatalog>;

/** Creates the catalog. Nothing is loaded or asked before the first request. */
export function createModelCatalog({ settings, readKey, lists }: Parts) {
  let read:
    | { readonly from: ModelSettings['providers']; readonly providers: readonly ModelProvider[]; readonly rest: string }
    | undefined;

  function providersOf(): readonly ModelProvider[] {
    const { providers: from, timeoutMs, maxRetries } = settings;
    const rest = `${timeoutMs} ${maxRetries}`;
    if (read?.from === from && read.rest === rest) return read.providers;
    const providers = Object.entries(from).flatMap(([name, setting]) => readProvider(name, setting, settings) ?? []);
    read = { from, providers, rest };
    return providers;
  }

  function defaultName(): string | undefined {
    const [only, another] = providersOf();
    return settings.default !== '' ? settings.default : another === undefined ? only?.name : undefined;
  }

  function aliasOf(name: string): readonly string[] | undefined {
    return Object.hasOwn(settings.aliases, name) ? [settings.aliases[name] ?? []].flat() : undefined;
  }

  /** A name with its provider, or that of a provider; undefined for a bare one. */
  function locate(name: string): Place | undefined {
    const slash = name.indexOf('/');
    const provider = providersOf().find((each) => each.name === (slash < 0 ? name : name.slice(0, slash)));
    const model = slash < 0 ? provider?.model : name.slice(slash + 1);
    if (provider === undefined) return undefined;
    if (model === undefined || model === '') throw describeMissingModel(provider);
    return { provider, model };
  }

  async function locateBare(name: string): Promise<readonly Place[]> {
    const all = providersOf();
    const configured = all.filter(({ model, models }) => model === name || models?.includes(name));
    if (configured.length > 0) return configured.map((provider) => ({ provider, model: name }));
    const [only, another] = all;
    if (only !== undefined && another === undefined) return (await mayHave(only, name)) ? [{ provider: only, model: name }] : [];
    const asked = all.filter((provider) => isListed(provider));
    const found = await Promise.all(
      asked.map(async (provider) => ((await lists.read(provider)).includes(name) ? [provider] : [])),
    );
    return found.flat().map((provider) => ({ provider, model: name }));
  }

  /**
   * Whether the only provider may have a model that the config does not have. Its list says whether what stands before a slash is part of
   * its names, since no list has every variant of a model; without a list that is so for all but its own name, misspelt.
   */
  async function mayHave(provider: ModelProvider, name: string): Promise<boolean> {
    const [space = ''] = name.split('/', 1);
    const isMisspelt = !space.startsWith(provider.name) && findNearNames(space, [provider.name]).length > 0;
    if (space === name && !isMisspelt) return true;
    const listed = isListed(provider) ? await lists.read(provider) : [];
    if (listed.length === 0) return space === name || !isMisspelt;
    return listed.some((each) => each === name || (space !== name && each.startsWith(`${space}/`)));
  }

  function isListed(provider: ModelProvider): boolean {
    return provider.listsModels && provider.models === undefined && problemOf(provider) === undefined;
  }

  function isOffered({ provider, model }: Place): boolean {
    return provider.models === undefined || provider.models.includes(model) || provider.model === model;
  }

  function problemOf({ name, keyName, ...provider }: ModelProvider): ProviderState['problem'] {
    if (keyName === undefined || readKey({ name, keyName, ...provider }) !== undefined) return undefined;
    const { known, keyHeader, baseUrl } = provider;
    const page = known?.keyPage === undefined ? '' : ` A key is made at ${known.keyPage}.`;
    const host = URL.parse(baseUrl)?.host ?? '';
    return {
      message: `The key "${keyName}" of models.providers.${name} has no value that may go to ${host}.`,
      fix: `Set the environment variable ${keyName} of the daemon, or env.${keyName} in the config, or a secret: hotcell secret set ${keyName} --host ${host} --header ${keyHeader}.${page}`,
    };
  }

  function describeUnknown(name: string, by: CatalogAsker): HotcellError {
    const seen = visible(by).flatMap(({ name: own, model, provider }) => [own, model, provider]);
    const others = mayUse(by, []) ? providersOf().map((provider) => provider.name) : [];
    const [space = ''] = name.split('/', 1);
    const spaces = findNearNames(
      space,
      providersOf().map((provider) => provider.name),
    );
    const mended = spaces.flatMap((provider) => locateSafely(`${provider}${name.slice(space.length)}`));
    const offered = mended
      .filter((place) => isOffered(place) && mayUse(by, namesOf(place)))
      .map((place) => namesOf(place)[0] ?? '');
    const near = suggestNearNames(name, [...(space === name ? [] : offered), ...seen, ...others]);
    return new HotcellError('model-unknown', `There is no model "${name.slice(0, maxNameChars)}".${near}`);
  }

  /** The models of the config. */
  function visible(by: CatalogAsker): CatalogModel[] {
    const chosen = defaultName();
    const ready = providersOf().filter((provider) => problemOf(provider) === undefined);
    const own = ready.flatMap((provider) =>
      [...new Set([...(provider.model === undefined ? [] : [provider.model]), ...(provider.models ?? [])])].map((model) => ({
        name: `${provider.name}/${model}`,
        provider: provider.name,
        model,
        isDefault:
          chosen === `${provider.name}/${model}` || (model === provider.model && [provider.name, model].includes(chosen ?? '')),
      })),
    );
    const aliases = Object.keys(settings.aliases).flatMap((name): CatalogModel[] => {
      const targets = aliasOf(name) ?? [];
      const place = targets.flatMap((target) => locateSafely(target)).find(({ provider }) => ready.includes(provider));
      if (place === undefined) return [];
      return [{ name, provider: place.provider.name, model: place.model, isDefault: name === chosen, aliasOf: targets }];
    });
    const mayUseAlias = ({ name, aliasOf: targets = [] }: CatalogModel) =>
      mayUse(by, [name]) || targets.flatMap(locateSafely).some((place) => mayUse(by, namesOf(place)));
    return [...aliases.filter(mayUseAlias), ...own.filter(({ name, model }) => mayUse(by, [name, model]))];
  }

  function locateSafely(name: string): Place[] {
    try {
      return [locate(name) ?? []].flat();
    } catch {
      return [];
    }
  }

  async function resolve(asked: string, by: CatalogAsker): Promise<readonly UpstreamTarget[]> {
    if (providersOf().length === 0) throw describeNone();
    if (asked.length > maxNameChars) throw describeUnknown(asked, by);
    const name = asked === '' ? defaultName() : asked;
    if (name === undefined) throw describeNoDefault(providersOf());
    const targets = aliasOf(name);
    const places = (
      await Promise.all((targets ?? [name]).map(async (target) => locate(target) ?? (await locateBare(target))))
    ).flat();
    const isAllowedByName = mayUse(by, targets === undefined ? [] : [name]);
    const allowed = places.filter((place) => isOffered(place) && (isAllowedByName || mayUse(by, namesOf(place))));
    if (targets === undefined && allowed.length > 1) throw describeSeveral(name, allowed);
    const [first] = allowed;
    if (first === undefined) throw describeUnknown(name, by);
    const ready = allowed.filter(({ provider }) => problemOf(provider) === undefined);
    const problem = problemOf(first.provider);
    if (ready.length === 0 && problem !== undefined)
      throw new HotcellError('model-not-configured', problem.message, { fix: problem.fix });
    return ready.map(toTarget);
  }

  return {
    /**
     * Where a model is asked: the first, and the others after it failed; never none. `model` is an alias of the config, `provider/model`,
     * the name of a provider, a bare name that one provider has, or `''` for the default. Rejects with `model-unknown` (which a model that the
     * key may not use is, too) and `model-not-configured`, which says what is missing. Asks providers for their lists only for a bare name
     * that the config does not have, and for one with a slash that begins with no provider of it.
     */
    resolve,
    /** The models that the caller may use: those of the config and, with `isFetched`, those that ready providers list. Never rejects. */
    async list(by: CatalogAsker, { isFetched = false }: { readonly isFetched?: boolean } = {}): Promise<readonly CatalogModel[]> {
      const own = visible(by);
      if (!isFetched) return own;
      const fetched = await Promise.all(
        providersOf()
          .filter(isListed)
          .map(async (provider) => (await lists.read(provider)).map((model) => ({ provider, model }))),
      );
      const names = new Set(own.map(({ name }) => name));
      const others = fetched
        .flat()
        .filter((place) => mayUse(by, namesOf(place)) && !names.has(`${place.provider.name}/${place.model}`));
      return [
        ...own,
        ...others.map(({ provider, model }) => ({
          name: `${provider.name}/${model}`,
          provider: provider.name,
          model,
          isDefault: false,
        })),
      ];
    },
    /** What writes down speech for whoever asks for a provider alone, or for nothing: the provider's usual model for that, else the name itself. */
    speechModelOf(model: string): string {
      const provider = providersOf().find(({ name }) => name === (model === '' ? defaultName() : model));
      const speech = provider?.known?.speechModel;
      return provider === undefined || speech === undefined ? model : `${provider.name}/${speech}`;
    },
    /** Every provider of the config, and what it lacks. */
    providers(): readonly ProviderState[] {
      const chosen = defaultName() ?? '';
      const place = [aliasOf(chosen)?.[0] ?? chosen].flatMap(locateSafely)[0];
      return providersOf().map((provider) => {
        const problem = problemOf(provider);
        const isDefault = place === undefined ? provider.model === chosen : place.provider === provider;
        const listProblem = lists.problemOf(provider);
        return { provider, isDefault, ...(problem && { problem }), ...(listProblem !== undefined && { listProblem }) };
      });
    },
    /** Throws `model-not-configured`, with the lines that are missing, when the default cannot be asked. */
    check(): void {
      if (providersOf().length === 0) throw describeNone();
      const name = defaultName();
      if (name === undefined) throw describeNoDefault(providersOf());
      const places = (aliasOf(name) ?? [name]).flatMap((target) => locate(target) ?? []);
      const [problem] = places.map(({ provider }) => problemOf(provider));
      if (places.every(({ provider }) => problemOf(provider) !== undefined) && problem !== undefined)
        throw new HotcellError('model-not-configured', problem.message, { fix: problem.fix });
    },
  };
}

/** Whether a key may ask a model that has these names. */
function mayUse(
  { caller: { models }, purpose }: { readonly caller: Caller; readonly purpose: AskedBy['purpose'] },
  names: readonly string[],
): boolean {
  if (models === undefined || (purpose !== 'gateway' && purpose !== 'chat')) return true;
  return models.some((glob) => names.some((name) => globMatches(glob, name)));
}

function namesOf({ provider, model }: Place): readonly string[] {
  return [`${provider.name}/${model}`, model];
}

function toTarget({ provider, model }: Place): UpstreamTarget {
  const { name, format, baseUrl, keyName, keyHeader, timeoutMs, maxRetries } = provider;
  return {
    provider: name,
    format,
    baseUrl,
    model,
    keyName,
    keyHeader,
    timeoutMs,
    maxRetries,
  };
}

function describeNone(): HotcellError {
  return new HotcellError('model-not-configured', 'The config names no model: models.providers is empty.', {
    fix: `Add it, as in: ${example}.`,
  });
}

function describeNoDefault(providers: readonly ModelProvider[]): HotcellError {
  return new HotcellError('model-not-configured', `The config names ${providers.length} providers, but not which is asked.`, {
    fix: `Add the line models.default: one of ${providers.map(({ name }) => name).join(', ')}.`,
  });
}

function describeMissingModel({ name }: ModelProvider): HotcellError {
  return new HotcellError('model-not-configured', `No model of the provider "${name}" is named.`, {
    fix: `Add the line models.providers.${name}.model, or ask for ${name}/MODEL; hotcell models list --fetch shows what it has.`,
  });
}

function describeSeveral(name: string, places: readonly Place[]): HotcellError {
  const all = places.map(({ provider, model }) => `${provider.name}/${model}`).join(', ');
  return new HotcellError('model-unknown', `Several providers have "${name}": ${all}.`, {
    fix: 'Ask for one of them by its whole name, or give it an alias in models.aliases.',
  });
}
