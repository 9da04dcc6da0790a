import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import type { ModelSettings } from '../../src/config/settings/model-settings.ts';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import { askForOneOf } from '../../src/errors/near-names.ts';
import type { AskedBy } from '../../src/models/upstream.ts';
import { openModels } from './open-models.ts';

const keys = { OPENAI_API_KEY: 'sk-o', GROQ_API_KEY: 'sk-g', ANTHROPIC_API_KEY: 'sk-a', OWN_KEY: 'sk-own' };
const ann: Caller = { id: 'ann', role: 'caller' };

function open(
  chosen: Partial<ModelSettings>,
  more: { keys?: Record<string, string>; rules?: readonly string[]; purpose?: AskedBy['purpose'] } = {},
) {
  const { catalog } = openModels(chosen, more.keys ?? keys);
  const by = {
    caller: { ...ann, ...(more.rules === undefined ? {} : { models: more.rules }) },
    purpose: more.purpose ?? 'gateway',
  };
  return {
    catalog,
    names: async (model: string) => {
      try {
        return (await catalog.resolve(model, by)).map((target) => `${target.provider}/${target.model}`);
      } catch (error) {
        if (error instanceof HotcellError) return `${error.code}: ${error.message}`;
        throw error;
      }
    },
    list: async () => (await catalog.list(by)).map(({ name }) => name),
  };
}

const several = {
  providers: {
    openai: { models: ['gpt-4o', 'gpt-4o-mini'] },
    groq: {},
    anthropic: {},
    own: {
      baseUrl: 'https://models.example.com/v1/',
      format: 'openai-responses',
      model: 'm-1',
      key: 'OWN_KEY',
      models: ['m-1', 'gpt-4o'],
    },
  },
  aliases: { fast: ['groq', 'openai/gpt-4o-mini'], best: 'anthropic/claude-sonnet-4-5' },
  default: 'fast',
} as const;

describe('createModelCatalog', () => {
  it.each([
    ['', ['groq/llama-3.3-70b-versatile', 'openai/gpt-4o-mini']],
    ['fast', ['groq/llama-3.3-70b-versatile', 'openai/gpt-4o-mini']],
    ['best', ['anthropic/claude-sonnet-4-5']],
    ['groq', ['groq/llama-3.3-70b-versatile']],
    ['groq/any/model:free', ['groq/any/model:free']],
    ['gpt-4o-mini', ['openai/gpt-4o-mini']],
    ['m-1', ['own/m-1']],
    ['gpt-4o', 'model-unknown: Several providers have "gpt-4o": openai/gpt-4o, own/gpt-4o.'],
    ['openai/gpt-5', 'model-unknown: There is no model "openai/gpt-5".'],
    ['gpt-4o-mimi', 'model-unknown: There is no model "gpt-4o-mimi". Did you mean "gpt-4o-mini" or "gpt-4o"?'],
    ['grok', 'model-unknown: There is no model "grok". Did you mean "groq"?'],
    ['onw', 'model-unknown: There is no model "onw". Did you mean "own"?'],
    ['__proto__', 'model-unknown: There is no model "__proto__".'],
    ['constructor/x', 'model-unknown: There is no model "constructor/x".'],
  ])('finds where %j is asked', async (model, wanted) => {
    const got = await open({
      ...several,
      providers: {
        ...several.providers,
        groq: { models: ['llama-3.3-70b-versatile', 'any/model:free'] },
        anthropic: { models: ['claude-sonnet-4-5'] },
      },
    }).names(model);
    if (typeof wanted === 'string') expect(got).toContain(wanted.split(' Did')[0]);
    else expect(got).toEqual(wanted);
  });

  it('tells how each is asked, in the header of its format', async () => {
    const { catalog } = open({
      ...several,
      maxRetries: 3,
      providers: { ...several.providers, groq: { timeoutMs: 5, maxRetries: 0 } },
    });
    const by = { caller: ann, purpose: 'gateway' } as const;
    const all = await Promise.all(['groq', 'best', 'own'].map(async (model) => (await catalog.resolve(model, by))[0]));
    expect(all).toMatchObject([
      {
        baseUrl: 'https://api.groq.com/openai/v1',
        format: 'openai-chat',
        keyHeader: 'authorization',
        timeoutMs: 5,
        maxRetries: 0,
      },
      {
        baseUrl: 'https://api.anthropic.com',
        format: 'anthropic',
        keyName: 'ANTHROPIC_API_KEY',
        keyHeader: 'x-api-key',
        maxRetries: 3,
      },
      { baseUrl: 'https://models.example.com/v1', format: 'openai-responses', keyHeader: 'authorization', timeoutMs: 120_000 },
    ]);
  });

  it('asks the only provider for any name, and passes over what has no key', async () => {
    expect(await open({ providers: { ollama: { model: 'llama3.2' } } }, { keys: {} }).names('qwen3:8b')).toEqual([
      'ollama/qwen3:8b',
    ]);
    const { names, list, catalog } = open(several, { keys: { OPENAI_API_KEY: 'sk' } });
    expect(await names('fast')).toEqual(['openai/gpt-4o-mini']);
    expect(await names('best')).toBe(
      'model-not-configured: The key "ANTHROPIC_API_KEY" of models.providers.anthropic has no value that may go to api.anthropic.com.',
    );
    expect(await list()).toEqual(['fast', 'openai/gpt-4o', 'openai/gpt-4o-mini']);
    expect(
      catalog.providers().map(({ provider, problem }) => [provider.name, problem?.message.includes('has no value')]),
    ).toEqual([
      ['openai', undefined],
      ['groq', true],
      ['anthropic', true],
      ['own', true],
    ]);
  });

  describe('with one provider', () => {
    const listing = async (models: readonly string[] | undefined) => {
      const server = createServer((_request, response) => {
        response.writeHead(models === undefined ? 500 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ data: (models ?? []).map((id) => ({ id })) }));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void server.close());
      const address = server.address();
      return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`;
    };
    const gpt = ['gpt-5', 'o4'];
    const routed = ['meta-llama/llama-4', 'openai/gpt-oss-120b'];
    const unknown = (name: string, ...meant: string[]) => `model-unknown: There is no model "${name}".${askForOneOf(meant)}`;

    it.each([
      [
        'takes its name misspelt for no model',
        'openai',
        gpt,
        'opnai/gpt-5',
        unknown('opnai/gpt-5', 'openai/gpt-5', 'openai/gpt-4o'),
      ],
      ['takes another provider for no model', 'openai', gpt, 'anthropic/claude-opus-5', unknown('anthropic/claude-opus-5')],
      ['takes its name misspelt alone for no model', 'openai', gpt, 'opnai', unknown('opnai', 'openai')],
      ['asks for any bare name', 'openai', gpt, 'gpt-5-of-today', ['openai/gpt-5-of-today']],
      [
        'asks for a name with a slash that it lists',
        'openrouter',
        routed,
        'meta-llama/llama-4',
        ['openrouter/meta-llama/llama-4'],
      ],
      ['asks for a variant of what it lists', 'openrouter', routed, 'openai/gpt-9:free', ['openrouter/openai/gpt-9:free']],
      [
        'asks for what it lists, also where it looks like its name',
        'opnai2',
        routed,
        'openai/gpt-oss-120b',
        ['opnai2/openai/gpt-oss-120b'],
      ],
      [
        'hears its name misspelt, with a slash in the model',
        'openrouter',
        routed,
        'opnrouter/meta-llama/x',
        unknown('opnrouter/meta-llama/x', 'openrouter/meta-llama/x'),
      ],
      [
        'without a list asks for any other name with a slash',
        'openrouter',
        undefined,
        'meta-llama/x',
        ['openrouter/meta-llama/x'],
      ],
      [
        'without a list takes its name misspelt for no model',
        'openai',
        undefined,
        'opnai/gpt-5',
        unknown('opnai/gpt-5', 'openai/gpt-5', 'openai/gpt-4o'),
      ],
    ])('%s', async (_what, name, models, asked, wanted) => {
      const baseUrl = await listing(models);
      expect(await open({ providers: { [name]: { baseUrl } } }).names(asked)).toEqual(wanted);
    });

    it('does not tell a key of a name that it may not ask', async () => {
      const baseUrl = await listing(gpt);
      const asked = open({ providers: { openai: { baseUrl } } }, { rules: ['openai/o4'] });
      expect(await asked.names('opnai/gpt-5')).toBe(unknown('opnai/gpt-5'));
      expect(await asked.names('opnai/o4')).toBe(unknown('opnai/o4', 'openai/o4'));
    });
  });

  it('lets a key hear of the models of its rule alone, also behind aliases', async () => {
    const some = open(several, { rules: ['openai/*'] });
    expect(await some.names('fast')).toEqual(['openai/gpt-4o-mini']);
    expect(await some.names('best')).toBe('model-unknown: There is no model "best".');
    expect(await some.names('anthropic/claude-sonnet-4-5')).toMatch(/^model-unknown: There is no model/);
    expect(await some.names('gpt-4o')).toEqual(['openai/gpt-4o']);
    expect(await some.list()).toEqual(['fast', 'openai/gpt-4o', 'openai/gpt-4o-mini']);
    const alias = open(several, { rules: ['fast'] });
    expect(await alias.names('fast')).toEqual(['groq/llama-3.3-70b-versatile', 'openai/gpt-4o-mini']);
    expect(await alias.names('groq')).toMatch(/^model-unknown/);
    expect(await alias.list()).toEqual(['fast']);
    expect(await open(several, { rules: [] }).list()).toEqual([]);
    expect(await open(several, { rules: [] }).names('')).toMatch(/^model-unknown/);
    expect(await open(several, { rules: [], purpose: 'plugin' }).names('')).toHaveLength(2);
  });

  it('says in one sentence what is missing', async () => {
    expect(await open({}).names('gpt-4o')).toBe('model-not-configured: The config names no model: models.providers is empty.');
    expect(await open({ providers: { openai: {}, groq: {} } }).names('')).toBe(
      'model-not-configured: The config names 2 providers, but not which is asked.',
    );
    expect(await open({ providers: { ollama: {} } }).names('')).toBe(
      'model-not-configured: No model of the provider "ollama" is named.',
    );
    expect(await open({ providers: { ollama: {} } }).names('x'.repeat(400))).toBe(
      `model-unknown: There is no model "${'x'.repeat(300)}".`,
    );
  });

  it('knows who writes down speech where a provider alone is named', () => {
    const { catalog } = open({ ...several, providers: { ...several.providers, voice: { provider: 'groq' } }, default: 'openai' });
    expect(['voice', '', 'own', 'groq/other', 'anthropic'].map(catalog.speechModelOf)).toEqual([
      'voice/whisper-large-v3-turbo',
      'openai/whisper-1',
      'own',
      'groq/other',
      'anthropic',
    ]);
  });

  it('follows an edit of the config', async () => {
    const { settings, catalog } = openModels({ providers: { openai: {} } }, keys);
    const by = { caller: ann, purpose: 'gateway' } as const;
    expect(await catalog.resolve('', by)).toMatchObject([{ provider: 'openai' }]);
    Object.assign(settings, { providers: { groq: {} } });
    expect(await catalog.resolve('', by)).toMatchObject([{ provider: 'groq', timeoutMs: 120_000 }]);
    Object.assign(settings, { timeoutMs: 7 });
    expect(await catalog.resolve('', by)).toMatchObject([{ timeoutMs: 7 }]);
  });
});
