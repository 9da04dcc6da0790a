import { Type } from 'typebox';
import Value from 'typebox/value';
import type { CapabilityTable } from '../../border/capability.ts';
import { BoundedMap } from '../../collections/bounded-map.ts';
import type { BuiltinSettings } from '../../config/settings/builtin-settings.ts';
import { findSearchProblem, type SearchProviderName, type SearchSettings } from '../../config/settings/search-settings.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { fetchForTool } from '../../tools/hosted/capability-calls.ts';
import type { HostedCall, HostedTool } from '../../tools/hosted/hosted-types.ts';
import { type SearchHit, type SearchQuestion, searchProviders } from './search-providers.ts';

/** What `web_search` works with. */
export interface WebSearchParts {
  readonly answer: CapabilityTable['answer'];
  readonly who: BuiltinSettings['who'];
  readonly search: SearchSettings;
  /** The value of a key that may go to this address in this header; undefined when there is none. */
  readonly readKey: (name: string, url: string, header: string) => string | undefined;
  /** Epoch ms. */
  readonly now: () => number;
}

const maxHits = 20;
const input = Type.Object(
  {
    query: Type.String({ minLength: 1, maxLength: 400, description: 'What to look for.' }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxHits, default: 8, description: 'Results at most.' })),
  },
  { additionalProperties: false },
);
const output = Type.Object({
  results: Type.Array(Type.Object({ title: Type.String(), url: Type.String(), snippet: Type.String() }), {
    description: 'Best first.',
  }),
});

const maxAnswerBytes = 2 * 1024 * 1024;
const maxRemembered = 200;

/** `web_search`: asks the provider of the config. Answers are remembered for a while, for all callers alike. */
export function createWebSearch(parts: WebSearchParts): HostedTool {
  const remembered = new BoundedMap<string, { readonly hits: readonly SearchHit[]; readonly untilMs: number }>(maxRemembered);

  async function find(question: SearchQuestion, call: HostedCall): Promise<readonly SearchHit[]> {
    const id = JSON.stringify([question.query, question.limit]);
    const known = remembered.get(id);
    if (known !== undefined && parts.now() < known.untilMs) return known.hits;
    const hits = await askProvider(parts, question, call);
    if (parts.search.cacheMs > 0) remembered.set(id, { hits, untilMs: parts.now() + parts.search.cacheMs });
    return hits;
  }

  return {
    name: 'web_search',
    description: 'Searches the web and answers titles, addresses and a few words of what was found.',
    input: { ...input },
    output: { ...output },
    tags: ['web', 'search'],
    who: parts.who.web_search,
    flags: { isParallelSafe: true },
    timeoutMs: 60_000,
    async run(args, call) {
      const { query, limit = 8 } = Value.Parse(input, args);
      return { results: await find({ query: query.trim(), limit }, call) };
    },
  };
}

async function askProvider(
  { answer, search, readKey }: WebSearchParts,
  question: SearchQuestion,
  { user, signal }: HostedCall,
): Promise<readonly SearchHit[]> {
  const problem = findSearchProblem(search);
  if (problem !== undefined) throw new HotcellError('search-not-configured', problem.message, { fix: problem.fix });
  const name = search.provider;
  if (name === 'none') throw new HotcellError('search-not-configured', 'web_search asks nobody.');
  const provider = searchProviders[name];
  const base = search.url === '' ? provider.url : search.url;
  const key = search.key === '' ? undefined : readKey(search.key, base, provider.keyHeader);
  if (search.key !== '' && key === undefined) throw describeMissingKey(search.key, provider.keyHeader, base);
  const { headers, ...request } = provider.ask(base, question);
  const keyed: [string, string][] = key === undefined ? [] : [[provider.keyHeader, provider.writeKey(key)]];
  // The operator named this address; nothing else can be reached with it.
  const granted = { net: [new URL(base).host] };
  const got = await fetchForTool(
    answer,
    { user: { ...user, granted: () => granted }, signal },
    { ...request, headers: [...headers, ...keyed], redirect: 'error' },
    maxAnswerBytes,
  );
  if (got.status >= 400) throw fail(name, `answered with the status ${got.status}`);
  if (got.truncated) throw fail(name, `answered more than ${maxAnswerBytes} bytes`);
  const hits = provider.read(parseJson(name, got.bytes.toString('utf8')));
  if (hits === undefined) throw fail(name, 'answered something that is no list of results');
  return hits.slice(0, question.limit);
}

function parseJson(name: SearchProviderName, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw fail(name, 'answered something that is no JSON');
  }
}

function fail(name: SearchProviderName, what: string): HotcellError {
  return new HotcellError('search-failed', `The search provider ${name} ${what}.`);
}

function describeMissingKey(name: string, header: string, url: string): HotcellError {
  return new HotcellError('search-not-configured', `search.key names "${name}", which has no value that may go to ${url}.`, {
    fix: `Set the environment variable ${name} of the daemon, or env.${name} in the config, or a secret bound to this host and the header ${header}: hotcell secret set ${name}.`,
  });
}
