import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Caller } from '../../src/callers/caller.ts';
import type { Execution } from '../../src/calls/call-types.ts';
import type { Settings } from '../../src/config/schema.ts';
import type { EventEnvelope } from '../../src/events/event.ts';
import type { EventType } from '../../src/events/event-table.ts';
import { startSmallDaemon } from '../small-daemon.ts';

/** A plugin that answers its text. */
export const echo =
  "export default { name: 'echo', description: 'Echo.', handler: async (args: { text: string }) => ({ text: args.text }) };";

/** The text of a HOOK.md. */
export function hookText(matter: string): string {
  return `---\ndescription: A hook.\n${matter}\n---\n# Hook\n`;
}

/** Files of a hook on calls that are about to begin. */
export function beforeHook(body: string, matter = ''): Readonly<Record<string, string>> {
  return {
    'HOOK.md': hookText(`events: ["tool:before"]\n${matter}`),
    'handler.ts': `export default async (event: any, context: any) => {\n${body}\n};\n`,
  };
}

/** Files of a hook that logs what it is told. */
export function tellingHook(events: readonly string[], matter = ''): Readonly<Record<string, string>> {
  return {
    'HOOK.md': hookText(`events: ${JSON.stringify(events)}\n${matter}`),
    'handler.ts': 'export default async (event: any, context: any) => { context.log.info(JSON.stringify(event)); };\n',
  };
}

/** A daemon over a data folder with hooks, by `NAME/FILE`. */
export async function openHookHouse(
  hooks: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
  options: { readonly settings?: Settings; readonly plugins?: Readonly<Record<string, string>>; readonly dataDir?: string } = {},
) {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'hotcell-hooks-'));
  const write = (name: string, files: Readonly<Record<string, string>>): void => {
    for (const [file, text] of Object.entries(files)) {
      const path = join(dataDir, 'hooks', name, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
  };
  for (const [name, files] of Object.entries(hooks)) write(name, files);
  const house = await startSmallDaemon(options.plugins ?? { 'echo.ts': echo }, options.settings ?? {}, { dataDir });
  const { parts, events } = house;
  const operator: Caller = { id: 'local', role: 'admin' };
  const listRuns = (name: string): Execution[] => parts.executions.list({ tool: `hook:${name}` }, operator).items.toReversed();
  /** Runs and events of tests that used the house before. */
  const earlierRuns = new Set<string>();
  let earlierEvents = 0;

  async function approve(name: string) {
    await parts.hooks.refresh();
    return parts.hooks.approve(name, parts.hooks.get(name).contentHash, 'local');
  }

  async function until<Found>(find: () => Found | undefined, what: string): Promise<Found> {
    const deadline = Date.now() + 25_000;
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (Date.now() > deadline) throw new Error(`${what} did not come`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  return {
    ...house,
    dataDir,
    write,
    remove: (name: string) => rmSync(join(dataDir, 'hooks', name), { recursive: true }),
    approve,
    until,
    /** How a call failed that was refused before it began. */
    refusal: async (args: object, more: Parameters<typeof house.call>[2] = {}) => {
      const error: unknown = await house.call('echo', args, more).then(
        (answer) => new Error(`it was not refused but answered ${JSON.stringify(answer)}`),
        (reason) => reason,
      );
      return error;
    },
    /** Runs of a hook since the house was last cleared, oldest first. */
    runs: (name: string): Execution[] => listRuns(name).filter(({ id }) => !earlierRuns.has(id)),
    /** Takes all hooks away, and forgets what they did: for the next test. */
    clear: async () => {
      for (const name of readdirSync(join(dataDir, 'hooks'))) {
        for (const { id } of listRuns(name)) earlierRuns.add(id);
        rmSync(join(dataDir, 'hooks', name), { recursive: true });
      }
      await parts.hooks.refresh();
      earlierEvents = events.length;
    },
    event: <Type extends EventType>(type: Type, isIt: (event: Extract<EventEnvelope, { type: Type }>) => boolean = () => true) =>
      until(
        () =>
          events
            .slice(earlierEvents)
            .find((event): event is Extract<EventEnvelope, { type: Type }> => event.type === type && isIt(event as never)),
        `the event ${type}`,
      ),
    close: async () => {
      await house.close();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** What such a daemon is. */
export type HookHouse = Awaited<ReturnType<typeof openHookHouse>>;
