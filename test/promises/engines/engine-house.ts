import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHttpClient } from '../../../src/client/client.ts';
import type { PermissionSet } from '../../../src/config/permission-set.ts';
import { grantContracts } from '../../../src/operations/contracts/access/grants.ts';
import { keyContracts } from '../../../src/operations/contracts/access/keys.ts';
import { pluginContracts } from '../../../src/operations/contracts/plugins.ts';
import { toolContracts } from '../../../src/operations/contracts/tools.ts';
import { type DaemonHouse, openDaemonHouse } from '../daemon-house.ts';
import { makeDaemonFolder, removeDaemonFolder } from '../daemon-process.ts';
import { type CallTool, type Step, type StepAnswer, type Subject, subjectConfig } from './subjects.ts';

/** A daemon with the probes of several engines in it. */
export interface EngineHouse {
  readonly house: DaemonHouse;
  readonly folder: string;
  /** From here on names have these addresses, one list for each time that somebody asks. */
  resolveBy(names: Readonly<Record<string, readonly (readonly string[])[]>>): void;
  /** Has a probe do steps under exactly this grant. */
  tryAs(subject: Subject, granted: PermissionSet, steps: readonly Step[], call?: CallTool): Promise<StepAnswer[]>;
  /** A caller with a key of its own. */
  makeCaller(name: string): Promise<{ readonly id: string; readonly call: CallTool }>;
  close(): Promise<void>;
}

/** What a house is opened with. */
export interface EngineHouseOptions {
  readonly subjects: readonly Pick<Subject, 'plugin' | 'files'>[];
  /** More plugins by file. */
  readonly plugins?: Readonly<Record<string, string>>;
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Opens one; grants are given and taken by its operations, as an operator does. */
export async function openEngineHouse(options: EngineHouseOptions): Promise<EngineHouse> {
  const folder = makeDaemonFolder({ ...options.plugins }, { ...subjectConfig, workers: { min: 1, max: 1 }, ...options.config });
  for (const subject of options.subjects) {
    for (const [name, content] of Object.entries(await subject.files())) writeFileSync(join(folder, 'plugins', name), content);
  }
  let resolve: (host: string) => Promise<readonly string[]> = async () => [];
  const house = await openDaemonHouse(folder, {}, { resolver: (host) => resolve(host) });
  await expectServable(house, options.subjects).catch(async (error: unknown) => {
    await house.close();
    throw error;
  });
  return {
    house,
    folder,
    resolveBy(names) {
      const left = new Map(Object.entries(names));
      resolve = async (host) => {
        const [first = [], ...others] = left.get(host) ?? [];
        if (others.length > 0) left.set(host, others);
        return first;
      };
    },
    async tryAs({ plugin, ask }, granted, steps, call = house.call) {
      await house.client.invoke(grantContracts.revoke, { plugin });
      const isCommand = plugin === 'probe_command';
      const permissions = { ...granted, ...(isCommand ? { run: ['node'] } : {}) };
      if (Object.keys(permissions).length > 0) await house.client.invoke(grantContracts.create, { plugin, permissions });
      return ask(call, steps);
    },
    async makeCaller(name) {
      const { id, key } = await house.client.invoke(keyContracts.create, { name });
      const client = createHttpClient({ url: house.url, token: key });
      return { id, call: (ref, args) => client.invoke(toolContracts.call, { ref, arguments: args }) };
    },
    async close() {
      await house.close();
      removeDaemonFolder(folder);
    },
  };
}

/** A probe that does not load would fail every test in other words than its own. */
async function expectServable(house: DaemonHouse, subjects: readonly Pick<Subject, 'plugin'>[]): Promise<void> {
  for (const { plugin } of subjects) {
    if (plugin.startsWith('builtin:')) continue;
    const { state, diagnostic } = await house.client.invoke(pluginContracts.get, { name: plugin });
    if (state !== 'ready' && state !== 'pending-grant') throw new Error(`${plugin} is ${state}: ${JSON.stringify(diagnostic)}`);
  }
}
