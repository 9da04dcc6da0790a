import type { JsonObject } from '../../../conversation/conversation.ts';
import { numberIn, textIn } from '../json-fields.ts';

type Value = string | number | boolean | null | Value[] | { [key: string]: Value };

const maxDepth = 64;
const maxPosition = 10_000;

/** Arguments of a call that come as values with their places (`$.city`, `$.days[0].name`). */
export class PartialArguments {
  readonly #root: { [key: string]: Value } = Object.create(null);

  /** Takes one value; a text that is continued is added to. False when its place makes no sense. */
  put(piece: JsonObject): boolean {
    const path = readPath(textIn(piece.jsonPath) ?? '');
    const value = readValue(piece);
    const last = path?.pop();
    if (path === undefined || last === undefined || value === undefined) return false;
    let place: Value = this.#root;
    for (const [position, step] of path.entries()) {
      const next: Value | undefined = readAt(place, step);
      const made: Value =
        typeof next === 'object' && next !== null
          ? next
          : typeof (path[position + 1] ?? last) === 'number'
            ? []
            : Object.create(null);
      if (!writeAt(place, step, made)) return false;
      place = made;
    }
    const before = readAt(place, last);
    return writeAt(place, last, typeof before === 'string' && typeof value === 'string' ? before + value : value);
  }

  /** The arguments so far, as JSON. */
  text(): string {
    return JSON.stringify(this.#root);
  }
}

function readPath(path: string): (string | number)[] | undefined {
  if (!path.startsWith('$')) return undefined;
  const steps = [...path.slice(1).matchAll(/\.([^.[\]]+)|\[(\d+)\]|\[['"]([^'"]*)['"]\]/g)];
  if (steps.map(([step]) => step).join('') !== path.slice(1) || steps.length > maxDepth) return undefined;
  return steps.map(([, name, position, quoted]) => (position === undefined ? (name ?? quoted ?? '') : Number(position)));
}

function readValue(piece: JsonObject): Value | undefined {
  if (typeof piece.boolValue === 'boolean') return piece.boolValue;
  return textIn(piece.stringValue) ?? numberIn(piece.numberValue) ?? ('nullValue' in piece ? null : undefined);
}

function readAt(place: Value, step: string | number): Value | undefined {
  if (Array.isArray(place)) return typeof step === 'number' ? place[step] : undefined;
  return typeof place === 'object' && place !== null ? place[String(step)] : undefined;
}

function writeAt(place: Value, step: string | number, value: Value): boolean {
  if (Array.isArray(place)) {
    if (typeof step !== 'number' || step > maxPosition) return false;
    place[step] = value;
    return true;
  }
  if (typeof place !== 'object' || place === null) return false;
  place[String(step)] = value;
  return true;
}
