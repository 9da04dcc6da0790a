import type { RepairSettings } from '../config/settings/repair-settings.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventLog } from '../events/event.ts';
import type { Generation } from '../plugins/generations/generation.ts';
import type { PluginMending, PluginStanding } from '../plugins/supervisor/mending.ts';
import type { PluginSupervisor } from '../plugins/supervisor-types.ts';
import { createSlots } from '../queues/slots.ts';
import { decideStart, type RepairBrake, repairBrakes } from './decide-start.ts';
import { classifyDiagnostic } from './failures/classify-failure.ts';
import type { Failure, Judged } from './failures/failure.ts';
import { createFailureNotes, describeSeldom } from './failures/failure-notes.ts';
import { type FailedCall, watchCalls } from './failures/watch-calls.ts';
import { type JourneyParts, mend } from './journey.ts';
import { keepFailure, type Repair, type RepairState, savedSince } from './repair.ts';
import { createRepairAnswers, type RepairAnswers } from './repair-answers.ts';
import type { RepairBook } from './repair-book.ts';
import { createRepairEnds, recoverRepairs } from './repair-ends.ts';

/** Repairs at work, and those that wait for their turn. */
export interface RepairFacts {
  readonly running: number;
  readonly waiting: number;
  readonly proposed: number;
  /** How often each brake kept a repair from starting. */
  readonly refused: Readonly<Record<RepairBrake, number>>;
  readonly tokens: number;
  readonly cost: number;
}

/** What is to be told of a plugin. */
export interface RepairNote {
  /** The last one, while it is of what lies there or serves. */
  readonly repair?: Repair;
  /** Why none started for the last failure, and what helps. */
  readonly refusal?: string;
}

/** The repairs of the daemon. */
export interface Repairs extends Omit<RepairAnswers, 'rollingBack'> {
  /** Brings what a killed daemon left to an end, and listens from now on. */
  start(): void;
  list(query: { readonly plugin?: string; readonly state?: RepairState; readonly limit: number }): Repair[];
  get(id: string): Repair;
  /** Repairs a plugin because somebody asked; resolves when it is over, also for one whose repair serves. Throws `conflict` with the reason when there is nothing to do. */
  begin(name: string, isForPerson: boolean): Promise<Repair>;
  /** A failure that was seen elsewhere: in a call, or a health check. */
  consider(failure: Failure): void;
  noteOf(path: string): RepairNote;
  /** A path of a repair for whoever is not to know where things lie on this machine. */
  showPath(path: string): string;
  facts(): RepairFacts;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export interface RepairsParts extends Omit<JourneyParts, 'settings'> {
  /** Read anew each time. */
  readonly settings: () => RepairSettings;
  readonly plugins: Pick<PluginSupervisor, 'pathOf' | 'findGeneration'>;
  readonly mending: PluginMending;
  readonly book: RepairBook;
  readonly events: Pick<EventLog, 'subscribe'>;
  readonly showPath: (path: string) => string;
  /** The generation that served last, of a plugin where none does. */
  readonly lastGood: (path: string) => Generation | undefined;
  /** A call that ended without success, and what crossed its border. */
  readonly readFailure: (executionId: string) => Promise<FailedCall>;
  /** Asks the checks of a plugin that nothing is known to be wrong with. */
  readonly findFailedCheck: (path: string) => Promise<Failure | undefined>;
  readonly now: () => number;
  readonly onFault: (error: unknown) => void;
}

const maxRunning = 2;
const historyRows = 50;

/** Creates the repairs; nothing happens before `start`. */
export function createRepairs(parts: RepairsParts): Repairs {
  const { book, mending, plugins, now, onFault } = parts;
  const closing = new AbortController();
  const slots = createSlots(maxRunning);
  const underwayByPath = new Map<string, Underway>();
  const checkSlots = createSlots(maxRunning);
  const checkingByPath = new Map<string, Promise<Failure | undefined>>();
  const answers = createRepairAnswers({ book, mending });
  const ends = createRepairEnds(parts);
  const notes = createFailureNotes();
  const refused = Object.fromEntries(repairBrakes.map((brake) => [brake, 0])) as Record<RepairBrake, number>;
  const stops: Array<() => void> = [];

  /** `seen`: a person may start the repair of what fails too seldom to be repaired by itself. */
  function onFailedCall(failure: Failure, seen: number | undefined): void {
    const { path } = failure;
    const standing = mending.find(path);
    if (seen === undefined || standing === undefined) return void take(failure, false).catch(onFault);
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

  /** One repair of a plugin at a time; undefined when it does not start, which is noted. */
  function take(failure: Failure, isForPerson: boolean): Promise<Repair | undefined> {
    const standing = mending.find(failure.path);
    if (standing === undefined || closing.signal.aborted) return Promise.resolve(undefined);
    const { contentHash } = standing;
    stopOvertaken(failure.path);
    const underway = underwayByPath.get(failure.path);
    if (underway?.contentHash === contentHash) return underway.work;
    const first = answers.rollingBack(failure.path) ?? underway?.work;
    if (first !== undefined) {
      const again = () => (mending.find(failure.path)?.contentHash === contentHash ? take(failure, isForPerson) : undefined);
      return first.then(again, again);
    }
    notes.remember(failure, contentHash);
    const decision = decideStart({
      settings: parts.settings(),
      class: failure.class,
      failureKey: failure.key,
      contentHash,
      history: book.list({ path: failure.path, limit: historyRows }),
      liveGeneration: standing.live?.id,
      openProposals: ends.countProposals(),
      waitingRepairs: slots.waiting(),
      isForPerson,
      name: standing.name,
      nowMs: now(),
    });
    if (!decision.starts) {
      refused[decision.brake] += 1;
      notes.note(failure.path, decision.reason);
      return Promise.resolve(undefined);
    }
    notes.forget(failure.path);
    const overtaken = new AbortController();
    const work = slots
      .run(() => repairOne(failure, standing, decision.mode, overtaken.signal))
      .finally(() => underwayByPath.delete(failure.path));
    underwayByPath.set(failure.path, { contentHash, work, overtaken });
    return work;
  }

  async function repairOne(
    failure: Failure,
    standing: PluginStanding,
    mode: 'auto' | 'propose' | 'off',
    overtaken: AbortSignal,
  ): Promise<Repair | undefined> {
    // It waited for its turn: who saved meanwhile has another failure, or none.
    if (closing.signal.aborted || mending.find(failure.path)?.contentHash !== standing.contentHash) return undefined;
    const { path, key, class: failureClass } = failure;
    const { contentHash, name: plugin } = standing;
    ends.overtake(path, contentHash);
    const kept = { path, plugin, class: failureClass, failureKey: key, contentHash, failure: keepFailure(failure) };
    const repair = book.open(kept);
    try {
      const diagnosed = standing.live ?? parts.lastGood(path);
      const journey = { ...parts, settings: parts.settings() };
      return await mend(journey, repair, {
        failure,
        standing,
        diagnosed,
        mode,
        signal: AbortSignal.any([closing.signal, overtaken]),
      });
    } catch (error) {
      const isOver = closing.signal.aborted;
      const { state } = book.get(repair.id);
      if (state === 'published' || state === 'applied') return book.get(repair.id);
      if (overtaken.aborted && !isOver) return book.move(repair.id, 'superseded', { reason: savedSince });
      if (!isOver) onFault(error);
      const reason = isOver ? 'The daemon was stopped.' : 'The daemon failed; its log says why.';
      return book.move(repair.id, 'interrupted', { reason });
    }
  }

  /** A repair of content that is not there any more asks nobody any further. */
  function stopOvertaken(path: string): void {
    const underway = underwayByPath.get(path);
    if (underway !== undefined && underway.contentHash !== mending.find(path)?.contentHash) underway.overtaken.abort();
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
    stopOvertaken(path);
    ends.overtake(path, mending.find(path)?.contentHash ?? '');
    if ('nobody' in judged) notes.note(path, `No repair starts. ${judged.nobody.reason}`);
    else take(judged.failure, false).catch(onFault);
  }

  function findPathOfGeneration(id: string): string | undefined {
    const path = plugins.findGeneration(id)?.path;
    // What an older generation did is not a failure of what serves now.
    return path !== undefined && mending.find(path)?.live?.id === id ? path : undefined;
  }

  const listUnderway = () => [...underwayByPath.values()].map(({ work }) => work);

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
    start() {
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
    list({ plugin, state, limit }) {
      ends.expire();
      const path = plugin === undefined ? undefined : (findPath(plugin) ?? findRemoved(plugin) ?? plugins.pathOf(plugin));
      return book.list({ limit, ...(path === undefined ? {} : { path }), ...(state === undefined ? {} : { states: [state] }) });
    },
    get(id) {
      ends.expire();
      return book.get(id);
    },
    async begin(name, isForPerson) {
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
      const repair = await take(judged.failure, isForPerson);
      if (repair !== undefined) return repair;
      throw new HotcellError('conflict', notes.refusalOf(path) ?? `The plugin "${name}" was saved meanwhile; look again.`, {
        fix,
      });
    },
    consider: (failure) => later(() => take(failure, false).catch(onFault)),
    apply(id, by) {
      ends.expire();
      return answers.apply(id, by);
    },
    reject: answers.reject,
    rollback: answers.rollback,
    showPath: parts.showPath,
    noteOf(path) {
      const [last] = book.has(path) ? book.list({ path, limit: 1 }) : [];
      const { contentHash, live } = mending.find(path) ?? {};
      const repair = last?.contentHash === contentHash || (live !== undefined && last?.generation === live.id) ? last : undefined;
      const refusal = notes.refusalOf(path);
      return { ...(repair === undefined ? {} : { repair }), ...(refusal === undefined ? {} : { refusal }) };
    },
    facts() {
      const proposed = ends.countProposals();
      const used = book.usedOf(undefined);
      return {
        running: underwayByPath.size - slots.waiting(),
        waiting: slots.waiting(),
        proposed,
        refused: { ...refused },
        ...used,
      };
    },
    async idle() {
      while (underwayByPath.size > 0) await Promise.allSettled(listUnderway());
    },
    async close() {
      closing.abort();
      for (const stop of stops) stop();
      await Promise.allSettled(listUnderway());
    },
  };

  function settleAfterSave(shownPath: string): void {
    const path = findPath(shownPath);
    const standing = path === undefined ? undefined : mending.find(path);
    if (standing === undefined || standing.isPinned) return;
    stopOvertaken(standing.path);
    notes.forget(standing.path);
    ends.settleAfterSave(standing);
  }

  function forgetRemoved(): void {
    for (const path of underwayByPath.keys()) stopOvertaken(path);
    ends.forgetRemoved();
  }
}

/** A repair at work, of this content. */
interface Underway {
  readonly contentHash: string;
  readonly work: Promise<Repair | undefined>;
  /** Aborted when other content lies in the file. */
  readonly overtaken: AbortController;
}
