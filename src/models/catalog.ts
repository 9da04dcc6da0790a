import type { Caller } from '../callers/caller.ts';
import type { ModelProvider, ModelSettings } from '../config/settings/model-settings.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { findNearNames, suggestNearNames } from '../errors/near-names.ts';
import { globMatches } from '../permissions/matching.ts';
import { createConfiguredModels, isOffered, type ModelPlace, namesOf, type ProviderProblem } from './configured-models.ts';
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
  readonly problem?: ProviderProblem;
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

const maxNameChars = 300;
const example = 'models: { providers: { openai: {} } }, with its key in OPENAI_API_KEY';

/** Which models there are, and where each is asked. Reads the config each time, so that an edit holds from the next request on. */
export type ModelCatalog = ReturnType<typeof createModelCatalog>;

/** Creates the catalog. Nothing is loaded or asked before the first request. */
export function createModelCatalog({ settings, readKey, lists }: Parts) {
  const { providers, defaultName, aliasOf, locate, locateSafely, problemOf } = createConfiguredModels(settings, readKey);

  async function locateBare(name: string): Promise<readonly ModelPlace[]> {
    const all = providers();
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

  function describeUnknown(name: string, by: CatalogAsker): HotcellError {
    const seen = visible(by).flatMap(({ name: own, model, provider }) => [own, model, provider]);
    const [space = ''] = name.split('/', 1);
    const known = providers().map((provider) => provider.name);
    const offered = findNearNames(space, known)
      .flatMap((provider) => locateSafely(`${provider}${name.slice(space.length)}`))
      .filter((place) => isOffered(place) && mayUse(by, namesOf(place)))
      .map((place) => namesOf(place)[0]);
    const near = suggestNearNames(name, [...(space === name ? [] : offered), ...seen, ...(mayUse(by, []) ? known : [])]);
    return new HotcellError('model-unknown', `There is no model "${name.slice(0, maxNameChars)}".${near}`);
  }

  /** The models of the config. */
  function visible(by: CatalogAsker): CatalogModel[] {
    const chosen = defaultName();
    const ready = providers().filter((provider) => problemOf(provider) === undefined);
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

  async function resolve(asked: string, by: CatalogAsker): Promise<readonly UpstreamTarget[]> {
    if (providers().length === 0) throw describeNone();
    if (asked.length > maxNameChars) throw describeUnknown(asked, by);
    const name = asked === '' ? defaultName() : asked;
    if (name === undefined) throw describeNoDefault(providers());
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
        providers()
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
      const provider = providers().find(({ name }) => name === (model === '' ? defaultName() : model));
      const speech = provider?.known?.speechModel;
      return provider === undefined || speech === undefined ? model : `${provider.name}/${speech}`;
    },
    /** Every provider of the config, and what it lacks. */
    providers(): readonly ProviderState[] {
      const chosen = defaultName() ?? '';
      const place = [aliasOf(chosen)?.[0] ?? chosen].flatMap(locateSafely)[0];
      return providers().map((provider) => {
        const problem = problemOf(provider);
        const isDefault = place === undefined ? provider.model === chosen : place.provider === provider;
        const listProblem = lists.problemOf(provider);
        return { provider, isDefault, ...(problem && { problem }), ...(listProblem !== undefined && { listProblem }) };
      });
    },
    /** Throws `model-not-configured`, with the lines that are missing, when the default cannot be asked. */
    check(): void {
      if (providers().length === 0) throw describeNone();
      const name = defaultName();
      if (name === undefined) throw describeNoDefault(providers());
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

function toTarget({ provider, model }: ModelPlace): UpstreamTarget {
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

function describeSeveral(name: string, places: readonly ModelPlace[]): HotcellError {
  const all = places.map(({ provider, model }) => `${provider.name}/${model}`).join(', ');
  return new HotcellError('model-unknown', `Several providers have "${name}": ${all}.`, {
    fix: 'Ask for one of them by its whole name, or give it an alias in models.aliases.',
  });
}
