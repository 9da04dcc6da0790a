import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { permissionKeys } from '../../src/config/permission-set.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/permissions.md'), 'utf8');
const blocks = [...page.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, text = '']): unknown => parse(text));

describe('docs/permissions.md', () => {
  it('shows every key, in a block that is read', () => {
    expect(Object.keys(blocks[0] ?? {})).toEqual([...permissionKeys]);
    expect(parsePermissions(blocks[0])).toEqual({ ok: true, permissions: blocks[0] });
  });

  it('shows grants that are read', () => {
    const grants = blocks.slice(1).flatMap((block) => {
      const { grants } = block as { grants?: { weather: unknown } };
      return grants === undefined ? [] : [grants.weather];
    });
    expect(grants).toHaveLength(2);
    for (const grant of grants) expect(parsePermissions(grant)).toEqual({ ok: true, permissions: grant });
  });
});
