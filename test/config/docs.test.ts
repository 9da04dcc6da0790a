import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import Type from 'typebox';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { describeLimits, listQuotas, writeNumber } from '../../scripts/limits-page.ts';
import { limitTable } from '../../src/config/limits.ts';
import { type SettingKey, settingKeys } from '../../src/config/live.ts';
import { loadConfig } from '../../src/config/read/load.ts';
import { environmentTable } from '../../src/config/read/sources.ts';
import { defaultSettings, describeConfigSchema } from '../../src/config/schema.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';

const readPage = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

/** A key as its row in the page; the keys of `limits` have a page of their own. */
function writeRow({ path, schema, isLive }: SettingKey): string {
  const { default: value, minimum, maximum, description }: Readonly<Record<string, unknown>> = { ...schema };
  const about = description ?? 'Limits of a call, by name: see [limits](limits.md).';
  const range =
    typeof minimum === 'number'
      ? `${minimum} to ${writeNumber(path, Number(maximum))}`
      : Type.IsEnum(schema)
        ? schema.enum.join(', ')
        : '';
  const applies = isLive ? 'at once' : 'restart';
  return `| \`${path}\` | ${writeDefault(path, value ?? {})} | ${range} | ${String(about)} | ${applies} |`;
}

function writeDefault(name: string, value: unknown): string {
  return typeof value === 'number' ? writeNumber(name, value) : `\`${JSON.stringify(value)}\``;
}

describe('docs/configuration.md', () => {
  const page = readPage('configuration.md');

  it.each(settingKeys.map(writeRow))('has the row %s', (row) => {
    expect(page).toContain(`\n${row}\n`);
  });

  it('has no row for a key that does not exist, and every environment variable', () => {
    expect(page.match(/^\| `[a-z]/gm)?.length).toBe(settingKeys.length);
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
  it('is what the tables of the code say: npm run docs:limits writes it', () => {
    expect(readPage('limits.md')).toBe(describeLimits());
  });

  it('names only tests and settings that exist', () => {
    for (const { tests, settings } of listQuotas()) {
      for (const file of tests) expect(existsSync(new URL(`../${file}`, import.meta.url)), file).toBe(true);
      for (const key of settings ?? []) expect(findSetting(key), key).toBeDefined();
    }
  });
});

function findSetting(key: string): unknown {
  const known: unknown = { ...defaultSettings, limits: limitTable, pluginLimits: {} };
  return key
    .split('.')
    .reduce((value, part) => (typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined), known);
}
