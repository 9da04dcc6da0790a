import type { CapabilityTable } from '../border/capability.ts';
import type { CallAnswer, ToolCaller } from '../calls/call-types.ts';
import type { Engines } from '../calls/runner.ts';
import { isQuestion } from '../capabilities/questions.ts';
import type { Engine } from '../engines/engine.ts';
import type { ToolEntry } from '../tools/tool-types.ts';

/** Runs a hook once. */
export type RunHook = (run: {
  readonly entry: ToolEntry;
  readonly event: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly session?: string | undefined;
  /** The execution that the event is about. */
  readonly executionId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}) => Promise<CallAnswer>;

const refusedOperation = {
  ok: false,
  code: 'not-supported',
  message: 'A hook neither calls tools nor asks people: it would trigger itself, or keep a call waiting for days.',
} as const;

/**
 * Creates a call journey for hooks alone: calls of tools that fill the queue keep no hook waiting, and the other way round. `caller` is
 * asked for later: it is made with the registry of this one.
 */
export function createHookRunner(caller: () => Pick<ToolCaller, 'call'>) {
  const entryByRef = new Map<string, ToolEntry>();
  let runs = 0;
  return {
    /** What the journey resolves references with. */
    registry: {
      resolve(ref: string): ToolEntry {
        const entry = entryByRef.get(ref);
        if (entry === undefined) throw new Error(`no run of a hook has the reference ${ref}`);
        return entry;
      },
    },
    async run({ entry, event, timeoutMs, session, executionId, signal }: Parameters<RunHook>[0]): Promise<CallAnswer> {
      const ref = `${entry.name}#${++runs}`;
      entryByRef.set(ref, entry);
      try {
        return await caller().call({
          ref,
          arguments: event,
          // A hook has a workspace and values of its own, and nothing that a caller of tools could see.
          caller: { id: entry.name, role: 'admin' },
          timeoutMs,
          ...(session === undefined ? {} : { session }),
          ...(executionId === undefined ? {} : { parent: { executionId, chain: [] } }),
          ...(signal === undefined ? {} : { signal }),
        });
      } finally {
        entryByRef.delete(ref);
      }
    },
  };
}

/** The capabilities of hooks: those of plugins, without what would lead back to hooks or to a person. */
export function withoutCallsAndQuestions<Table extends Pick<CapabilityTable, 'answer'>>(table: Table): Table {
  return {
    ...table,
    answer: async (request, user, signal) =>
      isQuestion(request.op) || request.op.startsWith('tools.') ? refusedOperation : table.answer(request, user, signal),
  };
}

/** Engines that cannot put a call aside: a hook does not outlive the daemon. */
export function withoutSuspending(engines: Engines): Engines {
  return Object.fromEntries(Object.values(engines).map((engine) => [engine.name, withoutSuspend(engine)]));
}

function withoutSuspend(engine: Engine): Engine {
  return {
    name: engine.name,
    load: (request) => engine.load(request),
    run: (request, host, signal) => engine.run(request, host, signal),
    discard: (target) => engine.discard(target),
    close: async () => {},
  };
}
