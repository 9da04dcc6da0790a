import { createSlots } from '../concurrency/slots.ts';
import type { RepairSettings } from '../config/settings/repair-settings.ts';
import type { Generation } from '../plugins/generations/generation.ts';
import type { PluginStanding } from '../plugins/supervisor/mending.ts';
import { decideStart, type RepairBrake, repairBrakes } from './decide-start.ts';
import type { Failure } from './failures/failure.ts';
import type { FailureNotes } from './failures/failure-notes.ts';
import { type JourneyParts, mend } from './journey.ts';
import { keepFailure, type Repair, savedSince } from './repair.ts';
import type { RepairEnds } from './repair-ends.ts';

export interface RepairQueueParts extends Omit<JourneyParts, 'settings'> {
  /** Read anew each time. */
  readonly settings: () => RepairSettings;
  /** The generation that served last, of a plugin where none does. */
  readonly lastGood: (path: string) => Generation | undefined;
  /** What has to be over before a repair of a plugin begins. */
  readonly rollingBack: (path: string) => Promise<unknown> | undefined;
  readonly notes: FailureNotes;
  readonly ends: RepairEnds;
  readonly closing: AbortSignal;
  readonly now: () => number;
  readonly onFault: (error: unknown) => void;
}

const maxRunning = 2;
const historyRows = 50;

/** A repair at work, of this content. */
interface Underway {
  readonly contentHash: string;
  readonly work: Promise<Repair | undefined>;
  /** Aborted when other content lies in the file. */
  readonly overtaken: AbortController;
}

export type RepairQueue = ReturnType<typeof createRepairQueue>;

/** Creates the queue: repairs at work, and those that wait for their turn. */
export function createRepairQueue(parts: RepairQueueParts) {
  const { book, mending, closing, ends, notes } = parts;
  const slots = createSlots(maxRunning);
  const underwayByPath = new Map<string, Underway>();
  const refused = Object.fromEntries(repairBrakes.map((brake) => [brake, 0])) as Record<RepairBrake, number>;

  /** One repair of a plugin at a time; undefined when it does not start, which is noted. */
  function take(failure: Failure, isForPerson: boolean): Promise<Repair | undefined> {
    const standing = mending.find(failure.path);
    if (standing === undefined || closing.aborted) return Promise.resolve(undefined);
    const { contentHash } = standing;
    stopOvertaken(failure.path);
    const underway = underwayByPath.get(failure.path);
    if (underway?.contentHash === contentHash) return underway.work;
    const first = parts.rollingBack(failure.path) ?? underway?.work;
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
      nowMs: parts.now(),
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
    if (closing.aborted || mending.find(failure.path)?.contentHash !== standing.contentHash) return undefined;
    const { path, key, class: failureClass } = failure;
    const { contentHash, name: plugin } = standing;
    ends.overtake(path, contentHash);
    const kept = keepFailure(failure);
    const repair = book.open({ path, plugin, class: failureClass, failureKey: key, contentHash, failure: kept });
    try {
      const diagnosed = standing.live ?? parts.lastGood(path);
      const signal = AbortSignal.any([closing, overtaken]);
      return await mend({ ...parts, settings: parts.settings() }, repair, { failure, standing, diagnosed, mode, signal });
    } catch (error) {
      const isOver = closing.aborted;
      const { state } = book.get(repair.id);
      if (state === 'published' || state === 'applied') return book.get(repair.id);
      if (overtaken.aborted && !isOver) return book.move(repair.id, 'superseded', { reason: savedSince });
      if (!isOver) parts.onFault(error);
      const reason = isOver ? 'The daemon was stopped.' : 'The daemon failed; its log says why.';
      return book.move(repair.id, 'interrupted', { reason });
    }
  }

  function stopOvertaken(path: string): void {
    const underway = underwayByPath.get(path);
    if (underway !== undefined && underway.contentHash !== mending.find(path)?.contentHash) underway.overtaken.abort();
  }

  return {
    take,
    /** A repair of content that is not there any more asks nobody any further; of one plugin, or of all. */
    stopOvertaken(path?: string): void {
      for (const each of path === undefined ? underwayByPath.keys() : [path]) stopOvertaken(each);
    },
    facts: () => ({
      running: underwayByPath.size - slots.waiting(),
      waiting: slots.waiting(),
      refused: { ...refused },
    }),
    /** Resolves when nothing is under way. */
    async idle(): Promise<void> {
      while (underwayByPath.size > 0) await Promise.allSettled([...underwayByPath.values()].map(({ work }) => work));
    },
  };
}
