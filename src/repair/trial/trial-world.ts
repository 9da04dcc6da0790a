import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BorderAnswer, BorderRequest } from '../../border/border.ts';
import type { CapabilityUser } from '../../border/capability-user.ts';
import { createMounts } from '../../capabilities/files/mounts.ts';
import { createFiles } from '../../capabilities/files.ts';
import { createKv } from '../../capabilities/kv.ts';
import type { Config } from '../../config/config-types.ts';
import type { PermissionSet } from '../../config/permission-set.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { refuseUnforeseen } from '../../replay/replays.ts';
import { createMemoryValues } from './memory-values.ts';

/** Worlds of one trial, each empty at first; `close` removes what they left on the disk. */
export type TrialWorlds = ReturnType<typeof createTrialWorlds>;

/** Begins with nothing on the disk: the folder is made with the first file. Grants are those of the generation that is measured by. */
export function createTrialWorlds(config: Pick<Config, 'dataDir' | 'kv' | 'files'>, granted: PermissionSet) {
  let folder: Promise<string> | undefined;
  let worlds = 0;

  /** What a plugin can reach while it is tried: values in memory and files in a folder of the trial. All else is refused. */
  function open(who: Pick<CapabilityUser, 'executionId' | 'plugin' | 'tool' | 'unitPath' | 'caller' | 'session'>) {
    const number = ++worlds;
    const user: CapabilityUser = { ...who, chain: [], granted: () => granted, noteUse: () => {}, holdClock: () => () => {} };
    const kv = createKv({ table: createMemoryValues(), limits: config.kv });
    let files: ReturnType<typeof createFiles> | undefined;
    let refusals = 0;

    async function findCapability(op: string) {
      if (op.startsWith('kv.')) return kv;
      if (!op.startsWith('files.')) return undefined;
      folder ??= mkdtemp(join(config.dataDir, trialFolder));
      const dataDir = join(await folder, String(number));
      files ??= createFiles({ dataDir, limits: config.files, mounts: noMounts });
      return files;
    }

    return {
      /** How often something was asked that no trial has. */
      refusals: () => refusals,
      /** Takes its files from the disk, so that the many runs of a trial need the room of one. */
      async clear(): Promise<void> {
        if (files !== undefined && folder !== undefined)
          await rm(join(await folder, String(number)), { recursive: true, force: true });
      },
      /** Never rejects. What is refused reads as a permission that is missing. */
      async answer(request: BorderRequest, signal: AbortSignal): Promise<BorderAnswer> {
        try {
          const carryOut = (await findCapability(request.op))?.operations[request.op];
          if (carryOut === undefined) {
            refusals++;
            return refuseUnforeseen(request);
          }
          const { payload, body } = await carryOut(request, user, signal);
          return { ok: true, payload: JSON.stringify(payload) ?? 'null', ...(body && { body }) };
        } catch (error) {
          if (!(error instanceof HotcellError)) return { ok: false, code: 'internal', message: 'The host could not answer.' };
          return { ok: false, code: error.code, message: `${error.message} ${error.fix}` };
        }
      },
    };
  }

  return {
    open,
    async close(): Promise<void> {
      if (folder !== undefined) await rm(await folder, { recursive: true, force: true });
    },
  };
}

/** Beginning of the names of folders of trials in the data directory. */
export const trialFolder = 'trial-';
const noMounts = createMounts({
  mounts: {},
  dataDir: '',
  configFile: undefined,
  pluginDirs: [],
  skillDirs: [],
  wasmDirs: [],
  sharedDirs: [],
});
