import type { FilledSection } from './filled.ts';
import { choice, text, whole } from './setting-kinds.ts';

/** The providers that are known. */
export const searchProviderNames = ['searxng', 'brave', 'tavily'] as const;
/** The name of one. */
export type SearchProviderName = (typeof searchProviderNames)[number];

/** The section `search` of the config. */
export const searchProperties = {
  provider: choice(['none', ...searchProviderNames], 'none', 'Who answers `web_search`.'),
  url: text('', 'Address of the provider, such as https://search.example.com; empty for its own. `searxng` needs one.', {
    pattern: '^(?:https?://[^\\s?#@]{1,2000})?$',
  }),
  key: text('', 'Name of the secret or `env` value with the API key; `brave` and `tavily` need one.'),
  cacheMs: whole(300_000, 0, 86_400_000, 'How long an answer of `web_search` is remembered, in ms; 0 never.'),
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
