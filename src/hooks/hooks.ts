import type { Execution } from '../calls/call-types.ts';
import type { Config } from '../config/config-types.ts';
import type { EventLog } from '../events/event.ts';
import type { Approvals } from '../permissions/approvals/approvals.ts';
import { createTracer } from '../plugins/diagnostics/trace.ts';
import { createFolderWatch, type FolderWatch } from '../plugins/watch/folder-watch.ts';
import type { Store } from '../store/store-types.ts';
import { createBeforeCall } from './before-call.ts';
import { type BuiltHook, buildHook, type HookBuilderParts } from './build-hook.ts';
import type { HookRoots } from './discover.ts';
import { createEventHooks } from './event-hooks.ts';
import { idOfHook } from './hook-entry.ts';
import { createHookQuestions } from './hook-questions.ts';
import { createHookRegistry } from './hook-registry.ts';
import type { RunHook } from './hook-runner.ts';

/** What hooks are made of. */
export interface HookParts {
  readonly config: Pick<Config, 'hooks' | 'safe' | 'watch'>;
  readonly roots: HookRoots;
  readonly store: Pick<Store, 'hookApprovals'>;
  readonly events: EventLog;
  readonly approvals: Pick<Approvals, 'askIfRoom' | 'answer' | 'withdraw' | 'listOpen'>;
  readonly builder: HookBuilderParts;
  readonly run: RunHook;
  readonly readExecution: (id: string) => Promise<Execution | undefined>;
  readonly now: () => number;
  /** Must not throw. */
  readonly onFault: (error: unknown) => void;
}

/** A burst of changes becomes one look. */
const settleMs = 100;
const closeMs = 5000;

/** The hooks of a daemon. */
export type Hooks = ReturnType<typeof createHooks>;

/** Creates the hooks. Nothing is read before the start. */
export function createHooks(parts: HookParts) {
  const { config, events, run, now, onFault } = parts;
  const artifactsById = new Map<string, BuiltHook['artifacts']>();
  const registry = createHookRegistry({
    roots: parts.roots,
    store: parts.store,
    events,
    isOn: () => config.hooks.enabled && !config.safe,
    questions: createHookQuestions({ approvals: parts.approvals, onFault }),
    build: async (hook) => {
      const built = await buildHook(parts.builder, hook);
      artifactsById.set(idOfHook(hook.place, hook.files), built.artifacts);
      return built;
    },
    onDiscard({ place, files }, built) {
      artifactsById.delete(idOfHook(place, files));
      built.discard();
    },
    now,
    onFault,
  });
  const tracer = createTracer({ readArtifacts: async (id) => artifactsById.get(id) });
  const eventHooks = createEventHooks({ registry, run, events, readExecution: parts.readExecution, onFault });
  let watch: FolderWatch | undefined;
  let timer: NodeJS.Timeout | undefined;

  function poke(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      void registry.refresh().catch(onFault);
    }, settleMs).unref();
  }

  return {
    registry,
    beforeCall: createBeforeCall({ registry, run, events, now }),
    explainError: tracer.explain,
    /** Reads and builds them, and watches their folders from then on; again when the config switched them on or off. */
    async start(): Promise<void> {
      await registry.refresh();
      if (!registry.isOn || watch !== undefined) return;
      const { dataHooks, skillDirs } = parts.roots;
      watch = createFolderWatch({
        folders: [dataHooks, ...skillDirs],
        polling: config.watch.polling,
        onHint: poke,
        onProblem: (path, message) => events.publish('watch-problem', { subject: path, data: { path, message } }),
        onReady: poke,
      });
    },
    /** Ends the watch and waits a moment for what is told already. */
    async close(): Promise<void> {
      clearTimeout(timer);
      await watch?.close();
      await eventHooks.close(closeMs);
    },
  };
}
