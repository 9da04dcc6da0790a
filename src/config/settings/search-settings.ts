import Type from 'typebox';
import { defaultSettings } from '../defaults.ts';
import type { FilledSection } from './filled.ts';

/** The providers that are known. */
export const searchProviderNames = ['searxng', 'brave', 'tavily'] as const;
/** The name of one. */
export type SearchProviderName = (typeof searchProviderNames)[number];

const defaults = defaultSettings.search;

/** The section `search` of the config. */
export const searchProperties = {
  provider: Type.Optional(
    Type.Enum(['none', ...searchProviderNames], {
      default: defaults.provider,
      description: 'Who answers `web_search`.',
    }),
  ),
  url: Type.Optional(
    Type.String({
      pattern: '^(?:https?://[^\\s?#@]{1,2000})?$',
      default: defaults.url,
      description: 'Address of the provider, such as https://search.example.com; empty for its own. `searxng` needs one.',
    }),
  ),
  key: Type.Optional(
    Type.String({
      maxLength: 256,
      default: defaults.key,
      description: 'Name of the secret or `env` value with the API key; `brave` and `tavily` need one.',
    }),
  ),
  cacheMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 86_400_000,
      default: defaults.cacheMs,
      description: 'How long an answer of `web_search` is remembered, in ms; 0 never.',
    }),
  ),
};

/** Who answers `web_search`. */
export type SearchSettings = FilledSection<typeof searchProperties>;

/** What is missing for `web_search`, as a sentence and the lines that help; undefined when nothing is. */
export function findSearchProblem({
  provider,
  url,
  key,
}: SearchSettings): { readonly message: string; readonly fix: string } | undefined {
  if (provider === 'none') {
    return {
      message: 'web_search asks nobody: search.provider of the config is none.',
      fix: 'Add to the config: search: { provider: searxng, url: https://search.example.com }, or { provider: brave, key: BRAVE_KEY }, or { provider: tavily, key: TAVILY_KEY }.',
    };
  }
  if (provider === 'searxng' && url === '') {
    return {
      message: 'search.url is missing, the address of SearXNG.',
      fix: 'Add to the config: search.url: https://search.example.com.',
    };
  }
  if (provider !== 'searxng' && key === '') {
    const name = `${provider.toUpperCase()}_KEY`;
    return {
      message: `search.key is missing, the name of the key of ${provider}.`,
      fix: `Add to the config: search.key: ${name}, and hold its value in the environment or as a secret.`,
    };
  }
  return undefined;
}
