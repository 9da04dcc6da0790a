import { createSlots } from '../concurrency/slots.ts';
import { omitUndefined } from '../config/json-object.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventLog } from '../events/event.ts';
import type { PluginSupervisor } from '../plugins/supervisor-types.ts';
import { classifyDiagnostic } from './failures/classify-failure.ts';
import type { Failure, Judged } from './failures/failure.ts';
import { createFailureNotes, describeSeldom } from './failures/failure-notes.ts';
import { type FailedCall, watchCalls } from './failures/watch-calls.ts';
import type { Repair, RepairState } from './repair.ts';
import { createRepairAnswers } from './repair-answers.ts';
import type { RepairBook } from './repair-book.ts';
import { createRepairEnds, recoverRepairs } from './repair-ends.ts';
import { createRepairQueue, type RepairQueue, type RepairQueueParts } from './repair-queue.ts';

/** Repairs at work, and those that wait for their turn; with how often each brake kept one from starting. */
export interface RepairFacts extends ReturnType<RepairQueue['facts']>, ReturnType<RepairBook['usedOf']> {
  readonly proposed: number;
}

/** What is to be told of a plugin. */
export interface RepairNote {
  /** The last one, while it is of what lies there or serves. */
  readonly repair?: Repair;
  /** Why none started for the last failure, and what helps. */
  readonly refusal?: string;
}

export interface RepairsParts extends Omit<RepairQueueParts, 'rollingBack' | 'notes' | 'ends' | 'closing'> {
  readonly plugins: Pick<PluginSupervisor, 'pathOf' | 'findGeneration'>;
  readonly events: Pick<EventLog, 'subscribe'>;
  readonly showPath: (path: string) => string;
  /** A call that ended without success, and what crossed its border. */
  readonly readFailure: (executionId: string) => Promise<FailedCall>;
  /** Asks the checks of a plugin that nothing is known to be wrong with. */
  readonly findFailedCheck: (path: string) => Promise<Failure | undefined>;
}

/** Plugins of which the checks run at the same time. */
const maxChecking = 2;
const historyRows = 50;

/** The repairs of the daemon. */
export type Repairs = ReturnType<typeof createRepairs>;

/** Creates the repairs; nothing happens before `start`. */
export function createRepairs(parts: RepairsParts) {
  const { book, mending, plugins, onFault } = parts;
  const closing = new AbortController();
  const checkSlots = createSlots(maxChecking);
  const checkingByPath = new Map<string, Promise<Failure | undefined>>();
  const answers = createRepairAnswers({ book, mending });
  const ends = createRepairEnds(parts);
  const notes = createFailureNotes();
  const queue = createRepairQueue({ ...parts, rollingBack: answers.rollingBack, notes, ends, closing: closing.signal });
  const stops: Array<() => void> = [];

  /** `seen`: a person may start the repair of what fails too seldom to be repaired by itself. */
  function onFailedCall(failure: Failure, seen: number | undefined): void {
    const { path } = failure;
    const standing = mending.find(path);
    if (seen === undefined || standing === undefined) return void queue.take(failure, false).catch(onFault);
    notes.remember(failure, standing.contentHash);
    notes.note(path, describeSeldom(standing.name, failure, seen));
  }

  /** However many ask for a plugin at once, its checks run once, and those of few plugins beside each other. */
  function findFailedCheck(path: string): Promise<Failure | undefined> {
    const work =
      checkingByPath.get(path) ?? checkSlots.run(() => parts.findFailedCheck(path)).finally(() => checkingByPath.delete(path));
    checkingByPath.set(path, work);
    return work;
  }

  /** What loads may fail when it runs: in a call, its health check or an example. */
  async function findByRunning(path: string): Promise<Judged | undefined> {
    const failure = notes.failedCallOf(path, mending.find(path)?.contentHash) ?? (await findFailedCheck(path));
    return failure && { failure };
  }

  function judge(path: string): Judged | undefined {
    const diagnostic = mending.find(path)?.diagnostic;
    return diagnostic && classifyDiagnostic(path, diagnostic);
  }

  /** In a turn of its own: whoever tells of a failure does not wait. */
  function later(task: () => void): void {
    setImmediate(() => {
      try {
        if (!closing.signal.aborted) task();
      } catch (error) {
        onFault(error);
      }
    });
  }

  function onDiagnostic(shownPath: string): void {
    const path = findPath(shownPath);
    const judged = path === undefined ? undefined : judge(path);
    if (path === undefined || judged === undefined) return;
    queue.stopOvertaken(path);
    ends.overtake(path, mending.find(path)?.contentHash ?? '');
    if ('nobody' in judged) notes.note(path, `No repair starts. ${judged.nobody.reason}`);
    else queue.take(judged.failure, false).catch(onFault);
  }

  function findPathOfGeneration(id: string): string | undefined {
    const path = plugins.findGeneration(id)?.path;
    // What an older generation did is not a failure of what serves now.
    return path !== undefined && mending.find(path)?.live?.id === id ? path : undefined;
  }

  /** A proposal for this very failure waits already: it is to be answered, not made again. */
  function findWaiting(path: string, { key }: Failure): Repair | undefined {
    const contentHash = mending.find(path)?.contentHash;
    const proposed = book.list({ path, states: ['proposed'], limit: historyRows });
    return proposed.find((repair) => repair.contentHash === contentHash && repair.failureKey === key);
  }

  /** The history of a plugin outlives its file. */
  function findRemoved(name: string): string | undefined {
    return book.list({ limit: 1000 }).find(({ plugin }) => plugin === name)?.path;
  }

  function findPath(name: string): string | undefined {
    try {
      return plugins.pathOf(name);
    } catch {
      return undefined;
    }
  }

  return {
    /** Brings what a killed daemon left to an end, and listens from now on. */
    start(): void {
      recoverRepairs(book, mending);
      ends.expire();
      stops.push(
        parts.events.subscribe({ types: ['plugin-diagnostic', 'plugin-change', 'plugin-removed'] }, (event) => {
          if (event.type === 'plugin-diagnostic') later(() => onDiagnostic(event.data.path));
          else if (event.type === 'plugin-removed') later(forgetRemoved);
          else if (event.type === 'plugin-change' && event.data.state === 'ready') later(() => settleAfterSave(event.data.path));
        }),
        watchCalls({
          ...parts,
          pathOf: findPathOfGeneration,
          onFailure: (failure, seen) => later(() => onFailedCall(failure, seen)),
          onNobodysFault: (path, executionId, { reason }) =>
            notes.note(path, `The call ${executionId} failed, and no repair starts. ${reason}`),
        }),
      );
      // What failed at the start was told before anybody listened.
      for (const path of mending.failing()) later(() => onDiagnostic(path));
    },
    list({ plugin, state, limit }: { readonly plugin?: string; readonly state?: RepairState; readonly limit: number }): Repair[] {
      ends.expire();
      const path = plugin === undefined ? undefined : (findPath(plugin) ?? findRemoved(plugin) ?? plugins.pathOf(plugin));
      return book.list({ limit, ...omitUndefined({ path, states: state && [state] }) });
    },
    get(id: string): Repair {
      ends.expire();
      return book.get(id);
    },
    /**
     * Repairs a plugin because somebody asked; resolves when it is over, also for one whose repair serves. Throws `conflict` with the
     * reason when there is nothing to do.
     */
    async begin(name: string, isForPerson: boolean): Promise<Repair> {
      const path = plugins.pathOf(name);
      await mending.look(path);
      const diagnosed = judge(path);
      const [serving] = diagnosed === undefined ? book.list({ limit: 1, path, states: ['published'] }) : [];
      if (serving !== undefined) return serving;
      const judged = diagnosed ?? (await findByRunning(path));
      if (judged === undefined)
        throw new HotcellError(
          'conflict',
          `Nothing is wrong with the plugin "${name}": it loads, its checks pass, and no call of it has failed by its own fault since the daemon began.`,
          { fix: `Make the call that fails once more, then: hotcell repair start ${name}.` },
        );
      const fix = `See what is wrong: hotcell why ${name}.`;
      if ('nobody' in judged)
        throw new HotcellError('conflict', `A repair would not help "${name}". ${judged.nobody.reason}`, { fix });
      const waiting = findWaiting(path, judged.failure);
      if (waiting !== undefined) return waiting;
      const repair = await queue.take(judged.failure, isForPerson);
      if (repair !== undefined) return repair;
      throw new HotcellError('conflict', notes.refusalOf(path) ?? `The plugin "${name}" was saved meanwhile; look again.`, {
        fix,
      });
    },
    /** A failure that was seen elsewhere: in a call, or a health check. */
    consider: (failure: Failure): void => later(() => queue.take(failure, false).catch(onFault)),
    apply(id: string, by: string): Promise<Repair> {
      ends.expire();
      return answers.apply(id, by);
    },
    reject: answers.reject,
    rollback: answers.rollback,
    /** A path of a repair for whoever is not to know where things lie on this machine. */
    showPath: parts.showPath,
    noteOf(path: string): RepairNote {
      const [last] = book.has(path) ? book.list({ path, limit: 1 }) : [];
      const { contentHash, live } = mending.find(path) ?? {};
      const repair = last?.contentHash === contentHash || (live !== undefined && last?.generation === live.id) ? last : undefined;
      const refusal = notes.refusalOf(path);
      return omitUndefined({ repair, refusal });
    },
    facts(): RepairFacts {
      const proposed = ends.countProposals();
      return { ...queue.facts(), proposed, ...book.usedOf(undefined) };
    },
    /** Resolves when nothing is under way. */
    idle: queue.idle,
    async close(): Promise<void> {
      closing.abort();
      for (const stop of stops) stop();
      await queue.idle();
    },
  };

  function settleAfterSave(shownPath: string): void {
    const path = findPath(shownPath);
    const standing = path === undefined ? undefined : mending.find(path);
    if (standing === undefined || standing.isPinned) return;
    queue.stopOvertaken(standing.path);
    notes.forget(standing.path);
    ends.settleAfterSave(standing);
  }

  function forgetRemoved(): void {
    queue.stopOvertaken();
    ends.forgetRemoved();
  }
}
