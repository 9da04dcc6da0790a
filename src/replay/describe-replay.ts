import type { Recording } from '../border/border.ts';
import { isObject } from '../config/json-object.ts';
import type { Isolation } from '../engines/engine.ts';
import { canonicalJson } from '../tools/canonical-json.ts';
import type { AskedOtherwise, GuestQuestion } from './recorded-answers.ts';
import type { ReplayEnd } from './replay-types.ts';

const maxSentences = 20;
const maxShownChars = 120;

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

/** The first place where two JSON values differ, in words; undefined when they are equal. The order of keys does not matter. */
export function findDifference(recorded: unknown, now: unknown, place = 'the output'): string | undefined {
  if (canonicalJson(recorded) === canonicalJson(now)) return undefined;
  if (Array.isArray(recorded) && Array.isArray(now)) {
    if (recorded.length !== now.length) return `${place} has ${now.length} items, recorded were ${recorded.length}`;
    const at = recorded.findIndex((item, index) => canonicalJson(item) !== canonicalJson(now[index]));
    return findDifference(recorded[at], now[at], `${place}[${at}]`);
  }
  if (isObject(recorded) && isObject(now) && !Array.isArray(recorded) && !Array.isArray(now)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
      if (!Object.hasOwn(now, key)) return `${place}.${key} is missing, recorded was ${show(recorded[key])}`;
      if (!Object.hasOwn(recorded, key)) return `${place}.${key} is new: ${show(now[key])}`;
      const difference = findDifference(recorded[key], now[key], `${place}.${key}`);
      if (difference !== undefined) return difference;
    }
  }
  return `${place} is ${show(now)}, recorded was ${show(recorded)}`;
}

/** A value as JSON, cut to what fits into a sentence. */
function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= maxShownChars ? text : `${text.slice(0, maxShownChars)}…`;
}
