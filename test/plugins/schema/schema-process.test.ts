import { afterEach, describe, expect, it } from 'vitest';
import { createSchemaReader, type SchemaReaderOptions } from '../../../src/plugins/schema/schema-process.ts';
import type { SchemaReader } from '../../../src/plugins/schema/schema-types.ts';

const readers: SchemaReader[] = [];
afterEach(() => Promise.all(readers.splice(0).map((reader) => reader.close())));

function open(options?: SchemaReaderOptions): SchemaReader {
  const reader = createSchemaReader(options);
  readers.push(reader);
  return reader;
}

const good = [{ path: 'a.ts', text: 'export default { handler: (args: { city: string }) => 1 }' }];

describe('createSchemaReader', () => {
  it('reads many plugins at once', async () => {
    const reader = open();
    const results = await Promise.all(Array.from({ length: 20 }, () => reader.read(good, 'a.ts')));
    for (const result of results) expect(result.handlers.default?.input).toMatchObject({ required: ['city'] });
  });

  it.each([
    ['parentheses', `export default ${'('.repeat(50_000)}1`],
    ['types', `type A = ${'Array<'.repeat(50_000)}1${'>'.repeat(50_000)}`],
    ['sums', `export default ${'1+'.repeat(200_000)}1`],
  ])(
    'survives %s that take the parser down',
    async (_, text) => {
      const reader = open();
      const read = () => reader.read(good, 'a.ts');
      const all = Promise.all([read(), read(), reader.read([{ path: 'bad.ts', text }], 'bad.ts'), read(), read()]);
      const [bad, ...neighbours] = (await all).toSorted(
        (a, b) => Object.keys(a.handlers).length - Object.keys(b.handlers).length,
      );
      expect(bad?.warnings[0]).toContain('bad.ts');
      for (const { handlers } of neighbours) expect(handlers.default?.input).toMatchObject({ required: ['city'] });
    },
    30_000,
  );

  it('gives up on a text that takes too long, and says so', async () => {
    const reader = open({ readMs: 1 });
    const text = Array.from({ length: 20_000 }, (_, i) => `export const a${i} = { b: [${i}] };`).join('\n');
    const result = await reader.read([{ path: 'slow.ts', text }], 'slow.ts');
    expect(result.warnings[0]).toContain('longer than 0.001 s');
  }, 30_000);

  it('does not start a process for more source than it reads', async () => {
    const result = await open().read([{ path: 'a.ts', text: ' '.repeat(3 * 1024 * 1024) }], 'a.ts');
    expect(result.warnings[0]).toContain('more than 2 MB');
  });

  it('answers what waits when it is closed', async () => {
    const reader = open();
    const pending = reader.read(good, 'a.ts');
    await reader.close();
    expect((await pending).warnings).toEqual(['The reader is closed.']);
    expect((await reader.read(good, 'a.ts')).warnings).toEqual(['The reader is closed.']);
  });
});
