import type { Recording } from '../border/border.ts';
import type { Isolation } from '../engines/engine.ts';
import { findDifference, show } from './find-difference.ts';
import type { AskedOtherwise, GuestQuestion } from './recorded-answers.ts';
import type { ReplayEnd } from './replay-types.ts';

const maxSentences = 20;

/** Where one end is not as another, in a sentence; undefined when it is the same output, or the same error. */
export function compareEnds(recorded: ReplayEnd, now: ReplayEnd): string | undefined {
  if (recorded.status !== now.status) return `It ends as ${sayEnd(now)}; recorded was ${sayEnd(recorded)}.`;
  if (now.status === 'success') {
    const difference = findDifference(recorded.output ?? null, now.output ?? null);
    return difference === undefined ? undefined : `${difference[0]?.toUpperCase()}${difference.slice(1)}.`;
  }
  const isSame = recorded.error?.code === now.error?.code && recorded.error?.message === now.error?.message;
  return isSame ? undefined : `It ends as ${sayEnd(now)}; recorded was ${sayEnd(recorded)}.`;
}

function sayEnd({ status, error }: ReplayEnd): string {
  return error === undefined ? status : `${status} (${error.code}: ${error.message.slice(0, 300)})`;
}

/** What was asked otherwise than it was recorded, in sentences. */
export function describeAsked({ unforeseen, missing, isReordered }: AskedOtherwise): string[] {
  const sentences = [
    ...unforeseen.map((question) => `It asks ${quote(question)}, which was not recorded; it was refused.`),
    ...missing.map((question) => `It does not ask ${quote(question)}, which was recorded.`),
    ...(isReordered ? ['It asks in another order than was recorded.'] : []),
  ];
  const more = sentences.length - maxSentences;
  return more > 0 ? [...sentences.slice(0, maxSentences), `And ${more} more such differences.`] : sentences;
}

function quote({ op, payload }: GuestQuestion): string {
  try {
    return `${op} ${show(JSON.parse(payload))}`;
  } catch {
    return op;
  }
}

/** Why a difference may not be the code's. */
export function describeBounds(facts: {
  readonly recording: Recording;
  readonly engine: string;
  readonly isolation: Isolation;
  readonly hasRedacted: boolean;
  readonly isOutputCut: boolean;
}): string[] {
  const { recording, engine, isolation, hasRedacted, isOutputCut } = facts;
  const kept = isolation === 'session' ? 'its session' : 'all calls of the plugin';
  return [
    ...(recording.complete
      ? []
      : ['The recording is not complete: more crossed the border, or was opened past it, than is kept.']),
    ...(engine === 'deno' || engine === 'docker'
      ? [`Time, chance and files in ${engine} are its own: what the code took of them is not recorded.`]
      : []),
    ...(isolation === 'call' ? [] : [`The call ran in a cell kept for ${kept}; the replay begins in a new one.`]),
    ...(hasRedacted ? ['Secrets are not in recordings: the code got what stands in their place.'] : []),
    ...(isOutputCut ? ['The record has the beginning of the output alone, which is compared as text.'] : []),
  ];
}
