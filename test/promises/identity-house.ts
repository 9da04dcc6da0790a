import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Static, TSchema } from 'typebox';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import type { Caller } from '../../src/callers/caller.ts';
import { loadConfig } from '../../src/config/read/load.ts';
import type { Settings } from '../../src/config/schema.ts';
import type { EventEnvelope } from '../../src/events/event.ts';
import { startDaemon } from '../../src/main.ts';
import { keyContracts } from '../../src/operations/contracts/access/keys.ts';
import { prepareOperations } from '../../src/operations/invoke.ts';
import type { OperationContract } from '../../src/operations/operation.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';
import type { PluginView } from '../../src/plugins/plugin-types.ts';
import { createDaemonLog } from '../../src/secrets/daemon-log.ts';
import { fewThreads, giveWarmCache } from '../data-dir.ts';
import { sharedTypes } from '../shared-builds.ts';

/** The operator's own token. */
export const operator: Caller = { id: 'local', role: 'admin' };

/** A house of a daemon whose files a test changes and that it starts again; nothing is granted but by the settings. */
export function openIdentityHouse(files: Readonly<Record<string, string>>, settings: Settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-identity-'));
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  mkdirSync(join(folder, 'plugins'));
  for (const [file, text] of Object.entries(files)) write(file, text);
  write('hotcell.config.yaml', stringify({ port: 0, ...fewThreads, ...settings }));
  let running: Awaited<ReturnType<typeof startDaemon>> | undefined;
  const events: EventEnvelope[] = [];

  async function stop(): Promise<void> {
    const daemon = running;
    running = undefined;
    await daemon?.close('the test wants it');
  }

  onTestFinished(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function parts() {
    if (running === undefined) throw new Error('the daemon does not run');
    return running.parts;
  }

  const house = {
    folder,
    path: (file: string) => join(folder, file),
    write,
    events,
    parts,
    stop,
    async start() {
      const config = loadConfig({ flags: {}, env: {}, cwd: folder, parsePermissions });
      giveWarmCache(config.dataDir);
      const log = createDaemonLog();
      running = await startDaemon({
        config,
        ...sharedTypes,
        version: '0.0.0',
        listen: false,
        onEvent: (event) => events.push(event),
        log,
      });
    },
    async restart() {
      await stop();
      await house.start();
    },
    /** Waits until a plugin is as a test wants it. */
    async settled(file: string, isRight: (view: PluginView) => boolean) {
      for (;;) {
        const view = parts()
          .plugins.list()
          .find(({ path }) => path === file || path === join(folder, file));
        if (view !== undefined && isRight(view)) return view;
        await new Promise<void>((resolve) => {
          const end = parts().events.subscribe({ types: ['plugin-change', 'plugin-removed'] }, () => {
            end();
            resolve();
          });
        });
      }
    },
    call: (ref: string, args: unknown = {}, caller = operator) => parts().caller.call({ ref, arguments: args, caller }),
    async invoke<Input extends TSchema, Output extends TSchema>(
      contract: OperationContract<Input, Output>,
      input: Static<Input>,
      caller = operator,
    ): Promise<Static<Output>> {
      if (running === undefined) throw new Error('the daemon does not run');
      const operation = prepareOperations(running.operations).get(contract.name);
      const output: unknown = await operation?.invoke(input, { caller, signal: new AbortController().signal });
      return output as Static<Output>;
    },
    /** A new key, as its caller. */
    async key(role: Caller['role'], by = operator, rules: object = {}): Promise<Caller> {
      const { id } = await house.invoke(keyContracts.create, { role, ...rules }, by);
      const caller = parts().keys.current(id);
      if (caller === undefined) throw new Error('the key does not hold');
      return caller;
    },
  };
  return house;
}
