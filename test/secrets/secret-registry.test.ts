import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SecretSetting } from '../../src/config/config-types.ts';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import { createSecretRegistry } from '../../src/secrets/secret-registry.ts';
import type { SecretTable } from '../../src/store/tables/access/secrets.ts';
import { temporaryDir, temporaryStore } from '../store/temporary-store.ts';

const value = 'wk-2f9c81a7d3';
const binding = { hosts: ['API.example.com'], header: 'X-Api-Key' };

function open(config: Record<string, SecretSetting> = {}, env: Record<string, string> = {}, table = temporaryStore().secrets) {
  const problems: string[] = [];
  const book = createSecretRegistry({ table, config, env, now: () => 1000, onProblem: (sentence) => problems.push(sentence) });
  return { book, problems, table };
}

function refusalOf(task: () => unknown): HotcellError {
  try {
    task();
  } catch (error) {
    if (error instanceof HotcellError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('createSecretRegistry', () => {
  it('keeps secrets over a restart and tells where they go, never what they are', () => {
    const { book, table } = open();
    book.set({ name: 'KEY', value, ...binding });
    const again = open({}, {}, table).book;
    expect(again.list()).toEqual([
      { name: 'KEY', binding: { hosts: ['api.example.com'], header: 'x-api-key' }, origin: 'store', updatedAtMs: 1000 },
    ]);
    expect(again.redactor.text(value)).toBe('[secret KEY]');
  });

  it('makes placeholders that differ by execution and name, hold nothing, and are the same after a restart', () => {
    const { book, table } = open();
    book.set({ name: 'KEY', value, ...binding });
    book.set({ name: 'OTHER', value: 'another value', ...binding });
    const made = ['exe_1', 'exe_2'].flatMap((id) => ['KEY', 'OTHER'].map((name) => book.placeholderOf(id, name)));
    expect(new Set(made).size).toBe(4);
    for (const each of made) expect(each).toMatch(/^hotcell-secret-[0-9a-f]{40}$/);
    const [first = ''] = made;
    expect(open({}, {}, table).book.findIn('exe_1', `Bearer ${first}`)).toMatchObject([
      { placeholder: first, secret: { name: 'KEY', value } },
    ]);
    expect(open().book.placeholderOf('exe_1', 'KEY')).not.toBe(first);
    expect(book.findIn('exe_2', `x ${first} ${first}`)).toEqual([{ placeholder: first }]);
    expect(book.findIn('exe_1', 'hotcell-secret-0123')).toEqual([]);
  });

  it('says with its revision that something changed, and forgets what is removed but for the redaction', () => {
    const { book } = open();
    const before = book.revision;
    book.set({ name: 'KEY', value, ...binding });
    const set = book.revision;
    const placeholder = book.placeholderOf('exe_1', 'KEY');
    book.set({ name: 'KEY', value: 'a newer value', ...binding });
    expect(book.findIn('exe_1', placeholder)).toMatchObject([{ secret: { value: 'a newer value' } }]);
    expect([book.remove('KEY'), book.remove('KEY'), book.has('KEY')]).toEqual([true, false, false]);
    expect(book.findIn('exe_1', placeholder)).toEqual([{ placeholder }]);
    expect(book.redactor.text(`${value} and a newer value`)).toBe('[secret KEY] and [secret KEY]');
    expect(before < set && set < book.revision).toBe(true);
  });

  it.each([
    ['a line break', { value: 'key\r\nX-Admin: 1' }, /line break/],
    ['a NUL', { value: 'key\0key-key' }, /control character/],
    ['too few characters', { value: 'seven77' }, /7 characters; it needs at least 8/],
    ['too many characters', { value: 'x'.repeat(4097) }, /at most 4096/],
    ['white space at its end', { value: 'key-key-key ' }, /white space/],
    ['what no header may hold', { value: 'schlüssel-1' }, /no header may hold/],
    ['neither header nor query', { header: undefined }, /either a header or a query/],
    ['header and query', { query: 'key' }, /either a header or a query/],
    ['a header with a colon', { header: 'x-key: 1\r\ny' }, /no name of a header/],
    ['no host', { hosts: [] }, /one to 32 hosts/],
    ['more hosts than fit', { hosts: Array.from({ length: 33 }, (_, index) => `h${index}.example.com`) }, /one to 32 hosts/],
    ['every host', { hosts: ['*'] }, /is every host/],
    ['a URL for a host', { hosts: ['https://api.example.com/'] }, /holds a scheme/],
    ['a name of the daemon', { name: 'HOTCELL_TOKEN' }, /belongs to the daemon/],
    ['a name that is none', { name: 'a b' }, /no name for a secret/],
  ])('refuses %s without saying the value', (_what, wrong, reason) => {
    const { book } = open();
    const refused = refusalOf(() => book.set({ name: 'KEY', value, ...binding, ...wrong }));
    expect([refused.code, refused.message]).toEqual(['secret-invalid', expect.stringMatching(reason)]);
    expect(refused.message).not.toContain((wrong as { value?: string }).value ?? value);
    expect(book.list()).toEqual([]);
  });

  it('takes values of the config from variables and files, and leaves them to the config', () => {
    const file = join(temporaryDir(), 'key');
    writeFileSync(file, 'value of a file\n');
    const hosts = ['api.example.com'];
    const { book } = open({ A: { env: 'VARIABLE', hosts, header: 'a' }, B: { file, hosts, query: 'b' } }, { VARIABLE: value });
    const found = ['A', 'B'].flatMap((name) => book.findIn('exe_1', book.placeholderOf('exe_1', name)));
    expect(found.map(({ secret }) => secret?.value)).toEqual([value, 'value of a file']);
    for (const task of [() => book.set({ name: 'A', value, ...binding }), () => book.remove('A')]) {
      expect(refusalOf(task).message).toBe('The secret A stands in the config.');
    }
  });

  it('starts without a value that is not there, says so, and refuses a binding that cannot be read', () => {
    const hosts = ['api.example.com'];
    const { book, problems } = open(
      {
        A: { env: 'MISSING', hosts, header: 'a' },
        B: { file: '/does/not/exist', hosts, query: 'b' },
        C: { env: 'SHORT', hosts, query: 'b' },
      },
      { SHORT: 'short' },
    );
    expect(problems).toEqual([
      'The secret A has no value: the environment variable MISSING is not set.',
      'The secret B has no value: its file cannot be read.',
      'The secret C has a value of 5 characters; it needs at least 8.',
    ]);
    expect(book.list().map(({ problem }) => problem !== undefined)).toEqual([true, true, true]);
    expect(book.findIn('exe_1', book.placeholderOf('exe_1', 'A'))).toMatchObject([{ placeholder: expect.any(String) }]);
    expect(refusalOf(() => open({ A: { env: 'X', file: 'y', hosts, header: 'a' } })).code).toBe('config-invalid');
    expect(refusalOf(() => open({ A: { env: 'X', hosts: ['*'], header: 'a' } })).message).toMatch(
      /^secrets\.A has the host "\*"/,
    );
  });

  it('learns a kept value whose binding is damaged, and sends it nowhere', () => {
    const table: SecretTable = {
      list: () => [{ name: 'KEY', value, bindingJson: '{"hosts":["*"],"header":"a"}', updatedAtMs: 1 }],
      set: () => {},
      remove: () => false,
      placeholderKey: () => new Uint8Array(32),
    };
    const { book, problems } = open({}, {}, table);
    expect(problems).toEqual(['The secret KEY has a binding that cannot be read.']);
    expect(book.redactor.text(value)).toBe('[secret KEY]');
    expect(book.problemOf('KEY')).toBeDefined();
  });
});
