import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig } from '../../src/config/read/load.ts';
import { type KnownProvider, knownProviders } from '../../src/config/settings/model-providers.ts';
import { readProvider } from '../../src/config/settings/model-settings.ts';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import { pricesAsOf, shippedPrices } from '../../src/models/prices.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';
import { readPage } from '../docs/markdown.ts';

function load(models: unknown) {
  const cwd = mkdtempSync(join(tmpdir(), 'hotcell-models-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  writeFileSync(join(cwd, 'hotcell.config.yaml'), stringify({ models }));
  return loadConfig({ flags: {}, env: {}, cwd, parsePermissions }).models;
}

function refusalOf(models: unknown): string {
  try {
    load(models);
  } catch (error) {
    if (error instanceof HotcellError) return error.message;
    throw error;
  }
  return 'loads';
}

const cellsOf = (row: string) =>
  row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
const read = (models: Parameters<typeof load>[0]) => {
  const settings = load(models);
  return Object.entries(settings.providers).map(([name, setting]) => readProvider(name, setting, settings));
};

describe('the table of providers', () => {
  const known = Object.entries<KnownProvider>(knownProviders);

  it('is shown in docs/models.md, and so are the shipped prices with their date', () => {
    const page = readPage('docs/models.md');
    const rows = (
      page
        .split('## The providers that are known')[1]
        ?.split('## ')[0]
        ?.match(/^\| `.*$/gm) ?? []
    ).map(cellsOf);
    const code = (text: string | undefined, none = '') => (text === undefined ? none : `\`${text}\``);
    expect(rows).toEqual(
      known.map(([name, { title, baseUrl, format, keyName, model, listsModels, speechModel }]) => [
        code(name),
        title,
        baseUrl,
        format,
        code(keyName, 'none'),
        code(model),
        listsModels ? 'yes' : 'no',
        code(speechModel),
      ]),
    );
    expect(page).toContain(pricesAsOf);
    for (const name of Object.keys(shippedPrices)) expect(page).toContain(`\`${name}\``);
  });

  it.each(known)('has a sound row for %s', (_name, { baseUrl, elsewhere = {}, keyName, keyPage, keyPrefix, isLocal, format }) => {
    for (const address of [baseUrl, ...Object.values(elsewhere)]) {
      const { protocol, hostname, search } = new URL(address);
      expect([protocol, search, address.endsWith('/')]).toEqual([isLocal ? 'http:' : 'https:', '', false]);
      expect(hostname === '127.0.0.1').toBe(isLocal === true);
    }
    expect(Object.keys(elsewhere)).not.toContain(format);
    expect([keyName !== undefined, keyPage !== undefined, keyPrefix !== undefined]).toEqual(Array(3).fill(isLocal !== true));
  });
});

describe('models.providers', () => {
  it('takes a known provider by one line', () => {
    expect(read({ providers: { groq: {}, ollama: { model: 'llama3.2' } } })).toMatchObject([
      {
        baseUrl: 'https://api.groq.com/openai/v1',
        format: 'openai-chat',
        keyName: 'GROQ_API_KEY',
        keyHeader: 'authorization',
        model: 'llama-3.3-70b-versatile',
      },
      { baseUrl: 'http://127.0.0.1:11434/v1', format: 'openai-chat', keyName: undefined, model: 'llama3.2' },
    ]);
  });

  it('takes the same provider twice, other keys and other formats', () => {
    expect(
      read({
        providers: {
          work: { provider: 'openai', key: 'WORK_KEY', format: 'openai-responses' },
          gemini: { format: 'openai-chat' },
          claude: { provider: 'anthropic', models: ['a', 'b'], timeoutMs: 5, maxRetries: 0 },
          azure: { baseUrl: 'https://a.example/openai/v1/', key: 'AZURE_KEY', keyHeader: 'api-key', model: 'm' },
          mine: { baseUrl: 'https://b.example/v1/', format: 'anthropic', model: 'm' },
        },
      }),
    ).toMatchObject([
      { baseUrl: 'https://api.openai.com/v1', format: 'openai-responses', keyName: 'WORK_KEY' },
      {
        baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
        keyHeader: 'authorization',
        keyName: 'GEMINI_API_KEY',
      },
      { keyHeader: 'x-api-key', model: 'a', models: ['a', 'b'], timeoutMs: 5, maxRetries: 0 },
      { baseUrl: 'https://a.example/openai/v1', keyHeader: 'api-key', keyName: 'AZURE_KEY' },
      { baseUrl: 'https://b.example', keyHeader: 'x-api-key', keyName: undefined },
    ]);
  });

  it('gives the usual key of a provider to its own address alone', () => {
    const baseUrl = 'https://elsewhere.example/v1';
    expect(
      read({ providers: { openai: { baseUrl }, work: { provider: 'openai', baseUrl, key: 'OPENAI_API_KEY' } } }),
    ).toMatchObject([
      { baseUrl, keyName: undefined },
      { baseUrl, keyName: 'OPENAI_API_KEY' },
    ]);
  });

  it('takes what configs said before', () => {
    expect(
      load({ default: 'small', providers: { small: { baseUrl: 'https://a.example/v1', model: 'm', key: 'K' } } }),
    ).toMatchObject({
      default: 'small',
      maxRetries: 2,
    });
  });

  it.each([
    [{ providers: { grok: {} } }, 'models.providers.grok is no known provider and has no baseUrl. Did you mean "groq"?'],
    [
      { providers: { fast: { provider: 'opnai' } } },
      'models.providers.fast.provider is "opnai", which is no known provider. Did you mean "openai"',
    ],
    [{ providers: { openai: { baseURL: 'https://a.example' } } }, 'baseURL is not a known key. Did you mean "baseUrl"?'],
    [
      { providers: { a: { baseUrl: 'https://a.example', format: 'openai' } } },
      'format must be one of openai-chat, openai-responses, anthropic, gemini',
    ],
    [
      { providers: { groq: { format: 'gemini' } } },
      'models.providers.groq.format is gemini: Groq speaks it nowhere known, so name its baseUrl',
    ],
    [
      { providers: { a: { baseUrl: 'ftp://a.example' } } },
      'models.providers.a.baseUrl must be a URL that begins with https:// or http://',
    ],
    [{ providers: { a: { baseUrl: 'https://u:p@a.example' } } }, 'without user, password, query and fragment'],
    [{ providers: { 'a/b': { baseUrl: 'https://a.example' } } }, 'models.providers.a/b must be a name without a slash'],
    [
      { providers: { openai: {} }, aliases: { fast: 'opnai/x' } },
      'models.aliases.fast is "opnai/x", which is no provider/model of models.providers. Did you mean "openai"?',
    ],
    ...[`sk-${'a1B2'.repeat(8)}`, `AIza${'a1B2'.repeat(8)}`, 'a1B2'.repeat(8)].map((key): [unknown, string] => [
      { providers: { openai: { key } } },
      'models.providers.openai.key must be the name of a key, such as API_KEY, and looks like the key itself: put that into env.API_KEY or a secret.',
    ]),
    [{ providers: { openai: {} }, aliases: { openai: 'openai/x' } }, 'models.aliases.openai has the name of a provider'],
    [
      { providers: { openai: {} }, aliases: { fast: 7 } },
      'must be a text that is not empty or a list of at most 8 texts and is 7',
    ],
    [{ providers: { openai: {} }, default: 'gpt-9' }, 'models.default is "gpt-9", which models.providers does not have (openai)'],
    [{ prices: { m: { input: -1, output: 1 } } }, 'models.prices.m.input must be a number from 0 to 100000 and is -1'],
    [{ providers: { openai: {} }, default: 'gpt-4o' }, 'loads'],
    [{ providers: { openai: {} }, default: 'openai/gpt-9' }, 'loads'],
    [{ providers: { openai: {} }, aliases: { fast: ['openai/gpt-9'] }, default: 'fast' }, 'loads'],
  ])('of %j says what is wrong', (models, sentence) => {
    expect(refusalOf(models)).toContain(sentence);
  });
});
