import type { Execution } from '../calls/call-types.ts';
import { createTurns } from '../concurrency/turns.ts';
import { quotas } from '../config/quotas.ts';
import type { EventEnvelope, EventLog } from '../events/event.ts';
import { isHookTool } from './hook-entry.ts';
import { heardEventTypes, hookEventOf } from './hook-events.ts';
import type { HearingHook, HookRegistry } from './hook-registry.ts';
import type { RunHook } from './hook-runner.ts';

const defaultTimeoutMs = 30_000;
const maxWaiting = quotas['hooks.waiting'].each.max;
/** An event with more than this is told without arguments and output. */
const maxChars = 8 * 1024 * 1024;
/** The states to which a reload comes: hooks hear of these, not of every step on the way. */
const settledStates: ReadonlySet<string> = new Set(['ready', 'degraded', 'failed', 'pending-grant', 'disabled', 'quarantined']);

/** Subscribes the hooks of a registry to the daemon's events. They cannot change what happened, and nobody waits for them. */
export function createEventHooks(parts: {
  readonly registry: Pick<HookRegistry, 'isHeard' | 'findHearing'>;
  readonly run: RunHook;
  readonly events: EventLog;
  /** The record of a call that ended, committed; undefined when it is gone. */
  readonly readExecution: (id: string) => Promise<Execution | undefined>;
  readonly onFault: (error: unknown) => void;
}) {
  const { registry, run, events, onFault } = parts;
  const queues = createHookQueues(maxWaiting);
  const ending = new AbortController();
  const overflowing = new Set<string>();

  async function tellOne(hook: HearingHook, event: EventEnvelope, describe: () => Promise<object | undefined>): Promise<void> {
    try {
      const context = ending.signal.aborted || hook.check() !== 'approved' ? undefined : await describe();
      if (context === undefined) return;
      const { event: name, type, action } = hook.subscription;
      const session = 'session' in context && typeof context.session === 'string' ? context.session : undefined;
      await run({
        entry: await hook.entry,
        event: { event: name, type, action, sessionKey: session ?? '', timestamp: event.at, context },
        timeoutMs: hook.manifest.timeoutMs ?? defaultTimeoutMs,
        session,
        executionId: event.type === 'execution-end' ? event.subject : undefined,
        signal: ending.signal,
      });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      events.publish('hook-problem', { subject: hook.name, data: { message: `It was not told of ${event.type}: ${reason}` } });
    }
  }

  function tellAll(event: EventEnvelope): void {
    const name = hookEventOf(event.type);
    if (name === undefined || !registry.isHeard(name) || !isForHooks(event)) return;
    const tool = event.type === 'execution-end' ? event.data.tool : undefined;
    let described: Promise<object | undefined> | undefined;
    const describe = (): Promise<object | undefined> => {
      described ??= describeEvent(event, parts.readExecution);
      return described;
    };
    for (const hook of registry.findHearing(name, tool)) {
      if (queues.push(hook.name, () => tellOne(hook, event, describe))) overflowing.delete(hook.name);
      else if (!overflowing.has(hook.name)) {
        overflowing.add(hook.name);
        const message = `It is too slow: ${maxWaiting} events wait for it, and newer ones are not told until it caught up.`;
        events.publish('hook-problem', { subject: hook.name, data: { message } });
      }
    }
  }

  const unsubscribe = events.subscribe({ types: heardEventTypes }, (event) => {
    try {
      tellAll(event);
    } catch (error) {
      onFault(error);
    }
  });

  return {
    /** Waits for what is told already, at most so long, and ends what is left. */
    async close(maxMs: number): Promise<void> {
      await queues.settled(maxMs);
      unsubscribe();
      ending.abort();
      await queues.settled(1000);
    },
  };
}

/** Runs of hooks are calls too: a hook that heard of them would trigger itself. */
function isForHooks(event: EventEnvelope): boolean {
  if (event.type === 'execution-end') return !isHookTool(event.data.tool);
  return event.type !== 'plugin-change' || settledStates.has(event.data.state);
}

/** What a handler finds in `event.context`: no path of this machine. */
async function describeEvent(
  event: EventEnvelope,
  readExecution: (id: string) => Promise<Execution | undefined>,
): Promise<object | undefined> {
  switch (event.type) {
    case 'daemon-start':
    case 'daemon-stop':
      return event.data;
    case 'plugin-change': {
      const { path: _path, ...data } = event.data;
      return { plugin: event.subject, ...data };
    }
    case 'execution-end': {
      const { tool, version, status, durationMs } = event.data;
      const facts = { executionId: event.subject, tool, version, caller: event.caller, status, durationMs };
      const execution = await readExecution(event.subject);
      if (execution === undefined) return facts;
      const { plugin, session, parent, error } = execution;
      const known = { ...facts, plugin, session, ...(parent === undefined ? {} : { parent }), ...(error ? { error } : {}) };
      const whole = { ...known, arguments: execution.arguments, output: execution.output };
      return JSON.stringify(whole).length > maxChars ? { ...known, isCut: true } : whole;
    }
    default:
      return undefined;
  }
}

/**
 * Creates queues of work, one for each hook: within one the order is kept, and a slow one keeps no other waiting. Each holds at most
 * `maxWaiting` pieces beside the one under way.
 */
export function createHookQueues(maxWaiting: number) {
  const turns = createTurns();
  const left = new Set<Promise<void>>();

  return {
    /** Takes a piece of work, which must not reject. False when the queue is full: it is not done then. */
    push(hook: string, work: () => Promise<void>): boolean {
      if ((turns.waiting(hook) ?? 0) >= maxWaiting) return false;
      const done = turns.run(hook, work).finally(() => left.delete(done));
      left.add(done);
      return true;
    },
    /** Resolves when nothing is left, at the latest after `maxMs`; false when something was left. */
    async settled(maxMs: number): Promise<boolean> {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(resolve, maxMs, true);
      for (let isLate = false; left.size > 0 && !isLate; )
        isLate = await Promise.race([Promise.all(left).then(() => false), promise]);
      clearTimeout(timer);
      return left.size === 0;
    },
  };
}
