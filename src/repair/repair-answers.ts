import { HotcellError } from '../errors/hotcell-error.ts';
import type { Generation } from '../plugins/generations/generation.ts';
import type { PluginMending, PluginStanding } from '../plugins/supervisor/mending.ts';
import { orShow, textsOf, writeRepair } from './journey.ts';
import { type Repair, type RepairState, savedSince } from './repair.ts';
import type { RepairBook } from './repair-book.ts';

const historyRows = 50;

/** Creates what people decide about repairs. Each throws `conflict` where the state of the repair, or a later save, does not allow it. */
export function createRepairAnswers({ book, mending }: { readonly book: RepairBook; readonly mending: PluginMending }) {
  const rollbackByPath = new Map<string, Promise<unknown>>();

  async function rollBack(repair: Repair, by: string): Promise<Repair> {
    const { id, path, plugin, generation } = repair;
    requireOpen(repair, ['published', 'applied'], 'taken back');
    const takenBack = [repair, ...book.list({ path, states: ['rolled-back'], limit: historyRows })];
    // The same content from before the repair is not its work.
    const isTakenBack = ({ contentHash, createdAtMs }: Generation) =>
      takenBack.some(({ generationHash, startedAtMs }) => contentHash === generationHash && createdAtMs >= startedAtMs);
    const recall = async () => generation !== undefined && (await mending.recall(path, generation, isTakenBack));
    if (repair.state === 'applied') {
      await takeOutOfFiles(repair, by);
      // A text that loads took its place already.
      const live = mending.find(path)?.live;
      if (live !== undefined && live.id === generation && isTakenBack(live)) await recall();
    } else if (!(await recall())) {
      book.move(id, 'superseded', { reason: savedSince });
      throw new HotcellError(
        'conflict',
        `What repair ${id} published does not serve any more: the file was saved since, and the save was left alone.`,
        { fix: `See what serves: hotcell why ${plugin}.` },
      );
    }
    return book.move(id, 'rolled-back', { reason: `It was taken back. ${describeRest(mending.find(path), plugin)}` });
  }

  async function takeOutOfFiles(repair: Repair, by: string): Promise<void> {
    const { before, after } = textsOf(repair);
    const [written] = after.values();
    if (repair.class === 'creation' && written !== undefined) {
      if (await mending.removeWritten(repair.path, written)) return;
      throw new HotcellError('conflict', `The file of ${repair.plugin} was changed since, so it was left alone.`);
    }
    await orShow(repair, mending.write(repair.path, before, after, by));
  }

  return {
    /** Writes it into the files; the work of `by` from then on. */
    async apply(id: string, by: string): Promise<Repair> {
      const repair = book.get(id);
      requireOpen(repair, ['proposed', 'published'], 'applied');
      return writeRepair({ book, mending }, repair, by);
    },
    reject(id: string, reason: string | undefined): Repair {
      const repair = book.get(id);
      requireOpen(repair, ['proposed'], 'rejected');
      const { plugin, class: failureClass } = repair;
      const why = `A person turned it down${reason === undefined ? '' : `: ${reason}`}.`;
      const again = ` The same content is tried again only by: hotcell repair start ${plugin}.`;
      return book.move(id, 'rejected', { reason: failureClass === 'creation' ? why : `${why}${again}` });
    },
    /** Takes it back: out of service, and out of the files while nobody changed them since. */
    rollback(id: string, by: string): Promise<Repair> {
      const { path } = book.get(id);
      const begin = () => rollBack(book.get(id), by);
      const work = (rollbackByPath.get(path) ?? Promise.resolve()).then(begin, begin).finally(() => {
        if (rollbackByPath.get(path) === work) rollbackByPath.delete(path);
      });
      rollbackByPath.set(path, work);
      return work;
    },
    /** Resolves when the rollback of a plugin is noted: until then, what it puts back into the folder starts nothing. */
    rollingBack: (path: string) => rollbackByPath.get(path),
  };
}

function describeRest(standing: PluginStanding | undefined, plugin: string): string {
  if (standing === undefined) return 'The file is gone.';
  const serves = standing.live === undefined ? 'Nothing serves' : `Generation ${standing.live.number} serves`;
  return `${serves}; what is wrong with the file: hotcell why ${plugin}.`;
}

function requireOpen(repair: Repair, states: readonly RepairState[], what: string): void {
  if (states.includes(repair.state)) return;
  throw new HotcellError('conflict', `Repair ${repair.id} is ${repair.state}, so it cannot be ${what}. ${repair.reason}`, {
    fix: `See where the plugin stands: hotcell repair list --plugin ${repair.plugin}.`,
  });
}
