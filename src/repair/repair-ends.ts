import type { RepairSettings } from '../config/settings/repair-settings.ts';
import type { PluginMending, PluginStanding } from '../plugins/supervisor/mending.ts';
import { describeServing, openStates, type Repair, savedSince } from './repair.ts';
import type { RepairBook } from './repair-book.ts';

const historyRows = 50;
const maxOpen = 1000;

/** What ends repairs that something else overtook. */
export type RepairEnds = ReturnType<typeof createRepairEnds>;

/** Creates what ends repairs that a save, a removed file or time overtook. */
export function createRepairEnds({
  book,
  mending,
  settings,
  now,
}: {
  readonly book: Pick<RepairBook, 'list' | 'move' | 'expire' | 'count'>;
  readonly mending: Pick<PluginMending, 'find'>;
  readonly settings: () => Pick<RepairSettings, 'proposalMs'>;
  readonly now: () => number;
}) {
  /** Ends proposals that nobody decided about in time. */
  const expire = (): void => book.expire(now() - settings().proposalMs);

  function supersede(isOver: (repair: Repair) => boolean, reason: string, path?: string): void {
    const limit = path === undefined ? maxOpen : historyRows;
    for (const repair of book.list({ states: ['proposed', 'published'], limit, ...(path !== undefined && { path }) }))
      if (isOver(repair)) book.move(repair.id, 'superseded', { reason });
  }

  return {
    expire,
    /** Proposals that wait, without those of which the time is over. */
    countProposals(): number {
      expire();
      return book.count(['proposed']);
    },
    /** What was proposed for, or serves in place of, content that is not there any more. */
    overtake: (path: string, contentHash: string) =>
      supersede((repair) => repair.contentHash !== contentHash && repair.class !== 'creation', savedSince, path),
    /** A plugin was saved, and loads. */
    settleAfterSave: ({ path, contentHash, live }: PluginStanding) =>
      supersede(
        ({ state, generation, contentHash: of }) =>
          // A proposal for what fails when it runs is still one while the content is the same.
          !(state === 'proposed' && of === contentHash) && (generation === undefined || generation !== live?.id),
        savedSince,
        path,
      ),
    /** A file that is gone takes its proposals with it; one that was never there waits to be made. */
    forgetRemoved: () =>
      supersede(({ class: of, path }) => of !== 'creation' && mending.find(path) === undefined, 'The file was removed.'),
  };
}

/** Settles what a killed daemon left in the middle: what is on the disk says how far each repair came. */
export function recoverRepairs(book: Pick<RepairBook, 'list' | 'move'>, mending: Pick<PluginMending, 'find' | 'holds'>): void {
  for (const repair of book.list({ states: openStates, limit: 10_000 })) {
    const { id, path, proposal, generationHash } = repair;
    const live = mending.find(path)?.live;
    const serves = live !== undefined && live.contentHash === generationHash && live.author === repair.author;
    if (repair.state === 'running') book.move(id, 'interrupted', { reason: 'The daemon ended in the middle of it.' });
    else if (repair.state === 'applying') {
      const isWritten = proposal?.files.every(({ path: file, after }) => mending.holds(file, after)) === true;
      const back = serves ? 'published' : 'proposed';
      book.move(id, isWritten ? 'applied' : back, {
        reason: isWritten
          ? `It lies in the file. Take it back: hotcell repair rollback ${id}.`
          : `The daemon ended before it was written. Write it into the file: hotcell repair apply ${id}.`,
      });
    } else if (repair.state === 'publishing' || repair.state === 'published') {
      if (serves) book.move(id, 'published', { reason: describeServing(id, live.number), generation: live.id });
      else
        book.move(id, 'interrupted', {
          reason: 'The daemon ended before its generation was kept, or the file was saved since.',
        });
    }
  }
}
