import { HotcellError } from '../../errors/hotcell-error.ts';
import { findSourceUrl } from '../../plugins/schema/source-url.ts';
import type { Diagnosis } from '../diagnosis/diagnosis.ts';
import { describeDifference, maxDiffChars } from '../text-difference.ts';
import { type DescriptionReader, isAddress } from './description-reader.ts';
import type { MakePlugin } from './make-plugin.ts';
import { readOrigin } from './write-plugin.ts';

/**
 * What the source that a plugin names (`// @source:`) says today, for the model that mends it: of one that was made from a description
 * what would be otherwise in it now. Undefined where it names none; a source that is not read is told with the reason.
 */
export async function describeSource(
  parts: { readonly descriptions: DescriptionReader; readonly makePlugin: MakePlugin },
  { plugin, sources }: Pick<Diagnosis, 'plugin' | 'sources'>,
  /** Hosts that the plugin may reach itself. */
  net: readonly string[],
): Promise<string | undefined> {
  const { realEntry, root, name } = plugin.source;
  const now = sources.get(realEntry) ?? '';
  const origin = readOrigin(now);
  const source = origin?.source ?? findSourceUrl(now);
  if (source === undefined) return undefined;
  try {
    const { descriptions, makePlugin } = parts;
    const read = isAddress(source)
      ? await descriptions.fetch(source, { isPublic: false, net })
      : descriptions.open(source, root.path);
    if (origin === undefined) return `${source}\n${read.text}`;
    const made = await makePlugin({ ...origin, text: read.text, name: name.replace(/\.[^.]*$/, ''), source: read.source });
    const show = () => name;
    const change = describeDifference(new Map([[realEntry, now]]), new Map([[realEntry, made.text]]), show, maxDiffChars / 4);
    return `${source}\nThe difference from the plugin to what would be made from it today:\n${change || '(none)'}`;
  } catch (error) {
    return `${source}\nIt was not read: ${error instanceof HotcellError ? error.message : 'a fault of the daemon.'}`;
  }
}
