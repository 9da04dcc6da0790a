import { isObject } from '../../config/json-object.ts';
import { canonicalJson } from '../../tools/canonical-json.ts';
import type { JsonSchema } from '../../units/tool-manifest.ts';

/** Words of schemas that say nothing of what is accepted. */
const silentWords: ReadonlySet<string> = new Set([
  'description',
  'title',
  'default',
  'examples',
  '$schema',
  '$comment',
  'deprecated',
]);
const lowerBounds = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const upperBounds = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];

/**
 * Where a schema may refuse what another one accepted, in words; undefined where it accepts all of it. What cannot be compared word by
 * word counts as narrower.
 */
export function findNarrowing(before: unknown, after: unknown, place = 'the arguments'): string | undefined {
  if (canonicalJson(strip(before)) === canonicalJson(strip(after))) return undefined;
  if (after === true || (isObject(after) && Object.keys(strip(after)).length === 0)) return undefined;
  if (!isObject(before) || !isObject(after)) return `${place} accept less than before`;
  const union = findUnionNarrowing(before, after, place);
  if (union !== 'not one') return union;
  for (const [word, value] of Object.entries(strip(after))) {
    const was = before[word];
    if (was !== undefined && canonicalJson(strip(was)) === canonicalJson(strip(value))) continue;
    const narrowing = compareWord(word, was, value, { before, after, place });
    if (narrowing !== undefined) return narrowing;
  }
  return undefined;
}

interface Compared {
  readonly before: JsonSchema;
  readonly after: JsonSchema;
  readonly place: string;
}

function compareWord(word: string, was: unknown, now: unknown, { before, after, place }: Compared): string | undefined {
  switch (word) {
    case 'type':
      return covers(listOf(now), listOf(was)) ? undefined : `${place} must be ${listOf(now).join(' or ')}`;
    case 'enum':
      return Array.isArray(was) && covers(listOf(now), was) ? undefined : `${place} may only be one of fewer values`;
    case 'required': {
      const added = listOf(now).find((name) => !listOf(was).includes(name));
      return added === undefined ? undefined : `${place} must have "${String(added)}"`;
    }
    case 'properties':
      return compareProperties(Object(was), Object(now), { before, after, place });
    case 'additionalProperties':
      return now === true ? undefined : findNarrowing(was ?? true, now, `further properties of ${place}`);
    case 'items':
      return was === undefined ? `items of ${place} are bound` : findNarrowing(was, now, `items of ${place}`);
    default:
      break;
  }
  const isLooser =
    typeof was === 'number' &&
    typeof now === 'number' &&
    ((lowerBounds.includes(word) && now <= was) || (upperBounds.includes(word) && now >= was));
  return isLooser ? undefined : `${place} are bound by another ${word}`;
}

function compareProperties(was: JsonSchema, now: JsonSchema, { before, after, place }: Compared): string | undefined {
  for (const name of new Set([...Object.keys(was), ...Object.keys(now)])) {
    const open = after.additionalProperties ?? true;
    const wasOpen = before.additionalProperties ?? true;
    const wasOf = Object.hasOwn(was, name) ? was[name] : wasOpen;
    // A property that was refused before, or that nobody spoke of, may be anything now.
    if (wasOf === false || (!Object.hasOwn(was, name) && before.additionalProperties === undefined)) continue;
    const narrowing = findNarrowing(wasOf, Object.hasOwn(now, name) ? now[name] : open, `"${name}" of ${place}`);
    if (narrowing !== undefined) return narrowing;
  }
  return undefined;
}

/** Each of the former choices must be accepted by one of the present ones. */
function findUnionNarrowing(before: JsonSchema, after: JsonSchema, place: string): string | undefined | 'not one' {
  const [was, now] = [choicesOf(before), choicesOf(after)];
  if (was === undefined && now === undefined) return 'not one';
  const lost = (was ?? [before]).find((choice) => !(now ?? [after]).some((each) => findNarrowing(choice, each) === undefined));
  return lost === undefined ? undefined : `${place} accept less than before`;
}

function choicesOf(schema: JsonSchema): readonly unknown[] | undefined {
  const words = Object.keys(strip(schema));
  return words.length === 1 && Array.isArray(schema.anyOf) ? schema.anyOf : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function covers(now: readonly unknown[], was: readonly unknown[]): boolean {
  const wide = new Set(now.map(canonicalJson));
  if (wide.has('"number"')) wide.add('"integer"');
  return was.length > 0 && was.every((value) => wide.has(canonicalJson(value)));
}

/** The schema without what only describes it, at every level. */
function strip(schema: unknown): Record<string, unknown> {
  if (!isObject(schema)) return schema === false ? { not: {} } : {};
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([word]) => !silentWords.has(word))
      .map(([word, value]) => [word, stripInner(word, value)]),
  );
}

function stripInner(word: string, value: unknown): unknown {
  if (word === 'properties' && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, strip(inner)]));
  }
  if (word === 'anyOf' && Array.isArray(value)) return value.map(strip);
  return (word === 'items' || word === 'additionalProperties') && isObject(value) ? strip(value) : value;
}
