import { HotcellError } from '../../errors/hotcell-error.ts';
import type { GenerationArchive } from '../generations/archive.ts';
import { nameOfPlugin, type PluginRecord } from './plugin-record.ts';
import type { Publisher } from './publisher.ts';
import { describeWriting } from './rollback-pin.ts';

/**
 * Makes a kept generation current, the one before the present one when no number is given. The content of the folder
 * is turned away from until somebody saves again, be it the same. Throws `generation-unknown`, and `plugin-not-ready` for a plugin
 * that is switched off.
 */
export function rollBack(
  parts: { readonly archive: GenerationArchive; readonly publisher: Publisher },
  record: PluginRecord,
  number: number | undefined,
): void {
  const name = nameOfPlugin(record);
  if (!record.enabled || record.lifecycle.state === 'disabled') {
    throw new HotcellError('plugin-not-ready', `The plugin "${name}" is disabled, so no generation of it can serve.`, {
      fix: `Enable it first: hotcell plugin enable ${name}.`,
    });
  }
  const kept = parts.archive.listKept(record.path);
  const current = record.live?.generation ?? record.chosen;
  const target = kept.find((generation) =>
    number === undefined ? generation.number < (current?.number ?? Number.POSITIVE_INFINITY) : generation.number === number,
  );
  if (!target) {
    const wanted = number === undefined ? 'no generation before the present one' : `no generation ${number}`;
    const numbers = kept.map((generation) => generation.number).join(', ') || 'none';
    throw new HotcellError('generation-unknown', `The plugin "${name}" has ${wanted}; kept are: ${numbers}.`, {
      fix: `See hotcell plugin history ${name}.`,
    });
  }
  const onDisk = findHashOnDisk(record);
  const files = record.seen?.inputs ?? current?.inputs ?? [];
  const isOnDisk = onDisk === undefined || target.contentHash === onDisk;
  const pinnedAwayFrom = isOnDisk ? undefined : { contentHash: onDisk, writing: describeWriting(files) };
  parts.publisher.apply(record, { type: 'rolled-back', pinnedAwayFrom }, { reason: 'rollback' });
  parts.publisher.offer(record, target, { reason: `rolled back to generation ${target.number}` });
}

/** The content hash of what lies in the folder; undefined when that never built: it will not be published anyway. */
function findHashOnDisk({ pinnedAwayFrom, lifecycle, waiting, live, chosen }: PluginRecord): string | undefined {
  if (pinnedAwayFrom !== undefined || lifecycle.state === 'degraded') return pinnedAwayFrom?.contentHash;
  return (waiting?.generation ?? live?.generation ?? chosen)?.contentHash;
}
