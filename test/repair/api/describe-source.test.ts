import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findSource } from '../../../src/plugins/discovery/plugin-source.ts';
import { describeSource } from '../../../src/repair/api/describe-source.ts';
import type { DescriptionReader } from '../../../src/repair/api/description-reader.ts';

it('asks for what a plugin names only where the plugin may reach, never for any public address', async () => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'hotcell-source-')));
  const text = '// @source: https://api.example.com/a.json\nexport default { handler: async () => 1 };\n';
  writeFileSync(join(path, 'a.ts'), text);
  const source = findSource({ path, kind: 'plugins', label: 'plugins' }, 'a.ts');
  if (source === undefined) throw new Error('no such plugin');
  const asked: Parameters<DescriptionReader['fetch']>[] = [];
  const descriptions: DescriptionReader = {
    async fetch(...order) {
      asked.push(order);
      return { text: 'today', source: order[0] };
    },
    open: () => ({ text: '', source: '' }),
    close: async () => {},
  };
  const makePlugin = async () => ({ text: '', notes: [] });
  const plugin = { source, name: 'a', contentHash: '' };
  const sources = new Map([[source.realEntry, text]]);
  expect(await describeSource({ descriptions, makePlugin }, { plugin, sources }, ['own.example.com'])).toContain('today');
  expect(asked).toEqual([['https://api.example.com/a.json', { isPublic: false, net: ['own.example.com'] }]]);
});
