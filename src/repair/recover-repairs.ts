import type { PluginMending } from '../plugins/supervisor/mending.ts';
import { describeServing, openStates } from './repair.ts';
import type { RepairBook } from './repair-book.ts';

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
