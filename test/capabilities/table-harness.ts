import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BorderAnswer } from '../../src/border/border.ts';
import { createCapabilityTable } from '../../src/capabilities/capability-table.ts';
import { nameWorkspace } from '../../src/capabilities/files/workspaces.ts';
import type { Resolve } from '../../src/capabilities/network/resolve.ts';
import type { Config } from '../../src/config/config-types.ts';
import { loadConfig } from '../../src/config/read/load.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';
import { openStore } from '../../src/store/open.ts';
import { giveTables } from '../data-dir.ts';
import { createUser, type TestUser } from './capability-user.ts';

/** What a test may choose. */
export interface HarnessOptions {
  readonly files?: Partial<Config['files']>;
  readonly kv?: Partial<Config['kv']>;
  readonly mounts?: Config['mounts'];
  readonly resolver?: Resolve;
}

/** The real table of capabilities over a real store and real folders. */
export function openTable(options: HarnessOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-capabilities-'));
  const dataDir = join(folder, 'data');
  const loaded = loadConfig({ flags: { data: dataDir }, env: {}, cwd: folder, parsePermissions });
  const config: Config = {
    ...loaded,
    files: { ...loaded.files, ...options.files },
    kv: { ...loaded.kv, ...options.kv },
    mounts: options.mounts ?? {},
  };
  giveTables(dataDir);
  const store = openStore({ dataDir });
  const faults: { id: string; error: unknown }[] = [];
  const table = createCapabilityTable({
    config,
    store,
    logFault: (id, error) => faults.push({ id, error }),
    ...(options.resolver ? { resolver: options.resolver } : {}),
  });
  const ask = (op: string, payload: unknown, who: TestUser | { grant: unknown }, body?: Uint8Array): Promise<BorderAnswer> => {
    const user = 'uses' in who ? who : createUser(who.grant);
    const request = { op, payload: typeof payload === 'string' ? payload : JSON.stringify(payload), ...(body ? { body } : {}) };
    return table.answer(request, user, new AbortController().signal);
  };
  return {
    table,
    store,
    dataDir,
    faults,
    /** The answer as it crosses the border. */
    ask,
    /** The value of an answer; a refusal comes as `code: message`. */
    value: async (op: string, payload: unknown, who: TestUser | { grant: unknown }, body?: Uint8Array): Promise<unknown> => {
      const answer = await ask(op, payload, who, body);
      return answer.ok ? JSON.parse(answer.payload) : `${answer.code}: ${answer.message}`;
    },
    /** Where a caller's files lie. */
    workspaceOf: (caller = 'local') => join(dataDir, 'workspaces', nameWorkspace(caller)),
    [Symbol.asyncDispose]: async () => {
      await table.close();
      store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
