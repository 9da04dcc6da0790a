import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import Type, { type TSchema } from 'typebox';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { limitTable } from '../../src/config/limits.ts';
import { loadConfig } from '../../src/config/load.ts';
import { describeConfigSchema, settingsSchema } from '../../src/config/schema.ts';
import { environmentTable } from '../../src/config/sources.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';

const readPage = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

/** Every key of the schema as its row in the page; the keys of `limits` have a page of their own. */
function listRows(schema: TSchema, path = ''): string[] {
  if (Type.IsObject(schema) && path !== 'limits') {
    return Object.entries(schema.properties).flatMap(([key, inner]) => listRows(inner, path === '' ? key : `${path}.${key}`));
  }
  const { default: value, minimum, maximum, description }: Readonly<Record<string, unknown>> = { ...schema };
  const about = description ?? 'Limits of a call, by name: see [limits](limits.md).';
  const range =
    typeof minimum === 'number'
      ? `${minimum} to ${writeNumber(path, Number(maximum))}`
      : Type.IsEnum(schema)
        ? schema.enum.join(', ')
        : '';
  return [`| \`${path}\` | ${writeDefault(path, value ?? {})} | ${range} | ${String(about)} |`];
}

function writeDefault(name: string, value: unknown): string {
  return typeof value === 'number' ? writeNumber(name, value) : `\`${JSON.stringify(value)}\``;
}

/** Sizes are easier to read with a unit. */
function writeNumber(name: string, value: number): string {
  if (!name.endsWith('Bytes')) return String(value);
  for (const [unit, bytes] of [
    ['TiB', 2 ** 40],
    ['GiB', 2 ** 30],
    ['MiB', 2 ** 20],
    ['KiB', 2 ** 10],
  ] as const) {
    if (value >= bytes && value % bytes === 0) return `${value} (${value / bytes} ${unit})`;
  }
  return String(value);
}

describe('docs/configuration.md', () => {
  const page = readPage('configuration.md');

  it.each(listRows(settingsSchema))('has the row %s', (row) => {
    expect(page).toContain(`\n${row}\n`);
  });

  it('has no row for a key that does not exist, and every environment variable', () => {
    expect(page.match(/^\| `[a-z]/gm)?.length).toBe(listRows(settingsSchema).length);
    for (const { name, path } of environmentTable) expect(page).toContain(`| \`${name}\` | \`${path.join('.')}\` |`);
  });

  it('has only examples that load and that fit the published JSON Schema', () => {
    const examples = [...page.matchAll(/```yaml\n(.+?)```/gs)].map((match) => match[1] ?? '');
    expect(examples.length).toBeGreaterThan(0);
    const cwd = mkdtempSync(join(tmpdir(), 'hotcell-docs-'));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    const validate = new Ajv2020({ strict: false }).compile(describeConfigSchema());
    for (const example of examples) {
      writeFileSync(join(cwd, 'hotcell.config.yaml'), example);
      expect(loadConfig({ flags: {}, env: {}, cwd, parsePermissions }).configFile).toBeDefined();
      expect(validate(parse(example)), JSON.stringify(validate.errors)).toBe(true);
    }
    expect(validate({ prot: 1 })).toBe(false);
  });
});

describe('docs/limits.md', () => {
  const page = readPage('limits.md');

  it.each(Object.entries(limitTable))('has the row of %s', (name, row) => {
    expect(page).toContain(
      `\n| \`${name}\` | ${writeNumber(name, row.default)} | ${writeNumber(name, row.max)} | ${row.about} |\n`,
    );
  });

  it('has no row for a limit that does not exist', () => {
    expect(page.match(/^\| `[a-z]/gm)?.length).toBe(Object.keys(limitTable).length);
  });
});
