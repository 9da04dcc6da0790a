import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../../../src/store/open.ts';
import { temporaryDir } from '../../temporary-store.ts';

const row = (name: string, value: string) => ({ name, value, bindingJson: '{"hosts":["a.com"],"header":"x"}', updatedAtMs: 5 });

describe('secrets', () => {
  it('are kept, replaced and removed by name', () => {
    const store = openStore({ dataDir: join(temporaryDir(), 'data') });
    const { secrets } = store;
    secrets.set(row('B', 'second value'));
    secrets.set(row('A', 'first value'));
    secrets.set(row('B', 'third value'));
    expect(secrets.list()).toEqual([row('A', 'first value'), row('B', 'third value')]);
    expect([secrets.remove('A'), secrets.remove('A')]).toEqual([true, false]);
    expect(secrets.placeholderKey()).toEqual(secrets.placeholderKey());
    store.close();
  });

  it('leave nothing in the files once they are replaced or removed', () => {
    const dataDir = join(temporaryDir(), 'data');
    const store = openStore({ dataDir });
    const holds = (text: string) =>
      ['hotcell.db', 'hotcell.db-wal'].filter((name) => readFileSync(join(dataDir, name)).includes(text));
    store.secrets.set(row('KEY', 'the-first-value'));
    expect(holds('the-first-value')).not.toEqual([]);
    store.secrets.set(row('KEY', 'the-second-value'));
    expect([holds('the-first-value'), holds('the-second-value').length > 0]).toEqual([[], true]);
    store.secrets.remove('KEY');
    expect(holds('the-second-value')).toEqual([]);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    store.close();
  });
});
