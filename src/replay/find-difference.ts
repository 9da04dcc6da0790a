import { isObject } from '../config/json-object.ts';
import { canonicalJson } from '../tools/canonical-json.ts';

const maxShownChars = 120;

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
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= maxShownChars ? text : `${text.slice(0, maxShownChars)}…`;
}
