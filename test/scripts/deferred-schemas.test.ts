import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deferSchemas } from '../../scripts/bundle.ts';

const contracts = new URL('../../src/operations/contracts/', import.meta.url);
const names = readdirSync(contracts, { encoding: 'utf8', recursive: true }).filter(
  (name) => name.endsWith('.ts') && name !== 'paging.ts',
);
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hotcell-schemas-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

// What `typebox` keeps out of sight, such as which keys may be left out, decides what JSON the schema becomes.
it.each(names)('the bundle of the client makes the very schemas of %s', async (name) => {
  const outfile = join(folder, `${name.replace('/', '-')}.cjs`);
  const common = { bundle: true, format: 'cjs', platform: 'node', logLevel: 'silent' } as const;
  await Promise.all([
    build({ ...common, entryPoints: [new URL(name, contracts).pathname], outfile, plugins: [deferSchemas] }),
    build({
      ...common,
      stdin: { contents: "export * from 'typebox';", resolveDir: import.meta.dirname },
      outfile: join(folder, 'schemas.cjs'),
    }),
  ]);
  expect(readSchemas(createRequire(outfile)(outfile))).toEqual(readSchemas(await import(new URL(name, contracts).href)));
});

/** Every input and output of a file's contracts, as JSON. */
function readSchemas(file: object): unknown {
  // A bundle and a module have the order of their exports each in its own way.
  const schemas = Object.entries(file)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, exported]) => exported)
    .flatMap((exported) => Object.values(Object(exported)))
    .filter((contract) => typeof contract === 'object' && contract !== null && 'http' in contract);
  expect(schemas.length).toBeGreaterThan(0);
  return JSON.parse(JSON.stringify(schemas));
}
