import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLiveConfig } from '../../src/config/live.ts';
import { loadConfig } from '../../src/config/read/load.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';

describe('openLiveConfig', () => {
  it('lets nobody write over what is in force, in sections that are live in part and in others', () => {
    const cwd = mkdtempSync(join(tmpdir(), 'hotcell-config-'));
    const initial = loadConfig({ flags: {}, env: {}, cwd, parsePermissions });
    rmSync(cwd, { recursive: true });
    const { config } = openLiveConfig(initial);
    for (const target of [config, ...Object.values(config).filter((value) => typeof value === 'object')]) {
      expect(Object.isFrozen(target)).toBe(true);
    }
    expect(Object.values(config).some((value) => typeof value === 'object')).toBe(true);
  });
});
