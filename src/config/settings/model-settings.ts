import Type, { type Static } from 'typebox';
import { suggestNearNames } from '../../errors/near-names.ts';
import type { Readable } from '../json-object.ts';
import type { FilledSection } from './filled.ts';
import { type KeyHeader, keyHeaders, type ModelFormat, modelFormats } from './model-formats.ts';
import { findKnownProvider, type KnownProvider, knownProviders } from './model-providers.ts';
import { named, text, whole } from './setting-kinds.ts';

const modelName = Type.String({ minLength: 1, maxLength: 256 });

/** One provider: a known one by its name, or any address that speaks one of the formats. */
const modelProviderSchema = Type.Object(
  {
    provider: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'A known provider, when NAME is none.' })),
    baseUrl: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description: 'Such as https://api.example.com/v1; known providers have theirs.',
      }),
    ),
    format: Type.Optional(
      Type.Enum([...modelFormats.keys()], { description: 'What is spoken there; openai-chat when nothing is said.' }),
    ),
    key: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Name of the secret or `env` value with the API key.' }),
    ),
    keyHeader: Type.Optional(Type.Enum(keyHeaders, { description: 'The header that takes the key, when not the usual one.' })),
    model: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'The model that is asked when none is named.' }),
    ),
    models: Type.Optional(
      Type.Array(modelName, { minItems: 1, maxItems: 200, description: 'The models that are offered; all when absent.' }),
    ),
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000 })),
    maxRetries: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
  },
  { additionalProperties: false },
);

/** What a name of the config stands for: the first is asked, the others after it failed. */
const modelAliasSchema = Type.Union([modelName, Type.Array(modelName, { minItems: 1, maxItems: 8 })]);

const dollars = Type.Number({ minimum: 0, maximum: 100_000 });

/** Dollars for a million tokens. */
const modelPriceSchema = Type.Object(
  { input: dollars, output: dollars, cacheRead: Type.Optional(dollars), cacheWrite: Type.Optional(dollars) },
  { additionalProperties: false },
);

/** The section `models` of the config. */
export const modelProperties = {
  default: text('', 'Model that is asked when none is named: an alias, a provider, or `provider/model`.'),
  providers: named(
    modelProviderSchema,
    'Providers by name: `openai: {}`, `ollama: { model: llama3.2 }`, `own: { baseUrl: https://api.example.com/v1, model: m-1, key: API_KEY }`.',
  ),
  aliases: named(
    modelAliasSchema,
    'Other names of models; of several the first is asked, the others after it failed: `fast: [groq, openai/gpt-4o-mini]`.',
  ),
  prices: named(
    modelPriceSchema,
    'Dollars for a million tokens, by `provider/model` or model: `m-1: { input: 0.5, output: 1.5 }`; they win over the shipped ones.',
  ),
  maxTokens: whole(1024, 1, 1_000_000, 'Tokens of an answer when nobody says otherwise.'),
  timeoutMs: whole(120_000, 1, 3_600_000, 'Time that a model may say nothing, at the start and later.'),
  maxRetries: whole(2, 0, 10, 'How often a model is asked again after a failure that may pass.'),
};

/** The models as configured. */
export type ModelSettings = FilledSection<typeof modelProperties>;

/** One provider, as it was written. */
export type ModelProviderSettings = Readable<Static<typeof modelProviderSchema>>;

/** What a million tokens cost, in dollars; what caches cost is that of `input` where nothing is said. */
export type ModelPrice = Readable<Static<typeof modelPriceSchema>>;

/** One provider with what the table knows of it. */
export interface ModelProvider {
  /** Its name in the config. */
  readonly name: string;
  /** Its row of the table, and the name of it. */
  readonly known: KnownProvider | undefined;
  readonly knownName: string | undefined;
  readonly baseUrl: string;
  readonly format: ModelFormat;
  readonly keyName: string | undefined;
  readonly keyHeader: KeyHeader;
  /** What is asked when none is named. */
  readonly model: string | undefined;
  /** What is offered; undefined for all. */
  readonly models: readonly string[] | undefined;
  readonly listsModels: boolean;
  readonly timeoutMs: number;
  readonly maxRetries: number;
}

/** Completes what was written of a provider; undefined where no address is known. */
export function readProvider(
  name: string,
  setting: ModelProviderSettings,
  { timeoutMs, maxRetries }: Pick<ModelSettings, 'timeoutMs' | 'maxRetries'>,
): ModelProvider | undefined {
  const knownName = setting.provider ?? (findKnownProvider(name) === undefined ? undefined : name);
  const known = knownName === undefined ? undefined : findKnownProvider(knownName);
  const format = setting.format ?? known?.format ?? 'openai-chat';
  const own = known === undefined || format === known.format ? known?.baseUrl : known.elsewhere?.[format];
  const baseUrl = setting.baseUrl ?? own;
  if (baseUrl === undefined) return undefined;
  // The usual key of a provider is meant for its own address: another one gets it only by name.
  const keyName = setting.key ?? (setting.baseUrl === undefined ? known?.keyName : undefined);
  return {
    name,
    known,
    knownName: known === undefined ? undefined : knownName,
    baseUrl: trimBaseUrl(baseUrl, format),
    format,
    keyName,
    keyHeader:
      setting.keyHeader ??
      (format === known?.format ? known.keyHeader : undefined) ??
      modelFormats.get(format)?.keyHeader ??
      'authorization',
    model: setting.model ?? setting.models?.[0] ?? known?.model,
    models: setting.models,
    listsModels: known?.listsModels ?? true,
    timeoutMs: setting.timeoutMs ?? timeoutMs,
    maxRetries: setting.maxRetries ?? maxRetries,
  };
}

function trimBaseUrl(baseUrl: string, format: ModelFormat): string {
  const bare = baseUrl.replace(/\/+$/, '');
  const prefix = modelFormats.get(format)?.pathPrefix;
  return prefix !== undefined && bare.endsWith(prefix) ? bare.slice(0, -prefix.length) : bare;
}

/** What of the models does not fit together, as clauses that name the key. */
export function findModelProblems(settings: ModelSettings): string[] {
  const { default: chosen, providers, aliases } = settings;
  return [
    ...Object.entries(providers).flatMap(([name, setting]) => findProviderProblems(name, setting, settings)),
    ...Object.entries(aliases).flatMap(([name, targets]) => [
      ...(Object.hasOwn(providers, name) ? [`models.aliases.${name} has the name of a provider`] : []),
      ...[targets].flat().flatMap((target) => {
        if (namesProvider(target, settings)) return [];
        const near = suggestNearNames(target.split('/')[0] ?? '', Object.keys(providers));
        return [`models.aliases.${name} is ${JSON.stringify(target)}, which is no provider/model of models.providers.${near}`];
      }),
    ]),
    ...(chosen === '' || isKnownModel(chosen, settings)
      ? []
      : [
          `models.default is ${JSON.stringify(chosen)}, which models.providers does not have (${Object.keys(providers).join(', ') || 'none'})`,
        ]),
  ];
}

function findProviderProblems(name: string, setting: ModelProviderSettings, settings: ModelSettings): string[] {
  const at = `models.providers.${name}`;
  const { provider, baseUrl, format } = setting;
  const known = findKnownProvider(provider ?? name);
  if (name.includes('/') || name === '') return [`${at} must be a name without a slash`];
  if (provider !== undefined && known === undefined) {
    const near = suggestNearNames(provider, Object.keys(knownProviders));
    return [`${at}.provider is ${JSON.stringify(provider)}, which is no known provider.${near}`];
  }
  if (readProvider(name, setting, settings) === undefined) {
    if (known !== undefined) return [`${at}.format is ${format}: ${known.title} speaks it nowhere known, so name its baseUrl`];
    const near = suggestNearNames(name, Object.keys(knownProviders));
    return [`${at} is no known provider and has no baseUrl.${near}`];
  }
  const reason = baseUrl === undefined ? undefined : judgeBaseUrl(baseUrl);
  return [
    ...(reason === undefined ? [] : [`${at}.baseUrl must be ${reason} and is ${JSON.stringify(baseUrl)}`]),
    // What it is stays unsaid: these sentences go to logs and to whoever asks for a model.
    ...(looksLikeKey(setting.key ?? '')
      ? [
          `${at}.key must be the name of a key, such as API_KEY, and looks like the key itself: put that into env.API_KEY or a secret`,
        ]
      : []),
  ];
}

const keyPrefixes = Object.values<KnownProvider>(knownProviders).flatMap(({ keyPrefix }) => keyPrefix ?? []);

/** Whether a text is what providers hand out, and no name that a person gave it. */
function looksLikeKey(text: string): boolean {
  const isLong = text.length >= 20;
  return (isLong && keyPrefixes.some((prefix) => text.startsWith(prefix))) || /^(?=.*\d)(?=.*[a-z])[A-Za-z0-9]{32,}$/.test(text);
}

function namesProvider(model: string, { providers }: ModelSettings): boolean {
  const slash = model.indexOf('/');
  return Object.hasOwn(providers, slash < 0 ? model : model.slice(0, slash));
}

function isKnownModel(model: string, settings: ModelSettings): boolean {
  if (Object.hasOwn(settings.aliases, model) || namesProvider(model, settings)) return true;
  return Object.entries(settings.providers).some(([name, setting]) => {
    const provider = readProvider(name, setting, settings);
    return provider?.model === model || provider?.models?.includes(model) === true;
  });
}

/** What is wrong with a base URL; undefined when nothing is. */
function judgeBaseUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return 'a URL that begins with https:// or http://';
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return 'without user, password, query and fragment (a key goes into models.providers.NAME.key, by its name)';
  return undefined;
}
