import { HotcellError } from '../../errors/hotcell-error.ts';
import { suggestNearNames } from '../../errors/near-names.ts';

/** An object of a manifest with the dotted path at which it stands, empty for the plugin itself. */
export interface ManifestNode {
  readonly path: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The path of a key, as diagnostics name it. */
export function pathOf(node: ManifestNode, key: string): string {
  return node.path === '' ? key : `${node.path}.${key}`;
}

/** The failure of one key: what was expected there, and what came. */
export function invalidField(path: string, expected: string, value: unknown, fix?: string): HotcellError {
  return new HotcellError('manifest-invalid', `"${path}" must be ${expected}, but is ${describeValue(value)}.`, {
    facts: { key: path },
    ...(fix === undefined ? {} : { fix }),
  });
}

/** Refuses keys that nobody reads, naming the near one. */
export function checkKeys(node: ManifestNode, known: readonly string[]): void {
  for (const key of Object.keys(node.data)) {
    if (known.includes(key)) continue;
    const path = pathOf(node, key);
    const suggestion = suggestNearNames(key, known);
    throw new HotcellError('manifest-invalid', `Unknown key "${path}".${suggestion}`, {
      facts: { key: path },
      fix: suggestion === '' ? 'Remove it, or move it into metadata, where anything may stand.' : `Correct the key.${suggestion}`,
    });
  }
}

/** A text of bounded length, or undefined. */
export function readText(node: ManifestNode, key: string, maxLength: number): string | undefined {
  const value = node.data[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalidField(pathOf(node, key), 'text', value);
  if (value.length > maxLength) throw invalidField(pathOf(node, key), `text of at most ${maxLength} characters`, value);
  return value.trim();
}

/** `true` or `false`, or undefined. */
export function readBoolean(node: ManifestNode, key: string): boolean | undefined {
  const value = node.data[key];
  if (value === undefined || typeof value === 'boolean') return value;
  throw invalidField(pathOf(node, key), 'true or false', value);
}

/** A whole number within bounds, or undefined. */
export function readInteger(node: ManifestNode, key: string, bounds: { min: number; max: number }): number | undefined {
  const value = node.data[key];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= bounds.min && value <= bounds.max) return value;
  throw invalidField(pathOf(node, key), `a whole number from ${bounds.min} to ${bounds.max}`, value);
}

/** One of some words, or undefined. */
export function readChoice<Choice extends string>(
  node: ManifestNode,
  key: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = node.data[key];
  if (value === undefined) return undefined;
  const choice = choices.find((candidate) => candidate === value);
  if (choice !== undefined) return choice;
  throw invalidField(pathOf(node, key), choices.map((candidate) => `"${candidate}"`).join(' or '), value);
}

/** An object that is no list, function or schema mark; undefined when the key is absent. */
export function readObject(node: ManifestNode, key: string): ManifestNode | undefined {
  const value = node.data[key];
  if (value === undefined) return undefined;
  if (!isRecord(value) || isFunctionMark(value)) throw invalidField(pathOf(node, key), 'an object', value);
  return { path: pathOf(node, key), data: value };
}

/** Whether a value stands for a function of the guest. */
export function isFunctionMark(value: unknown): boolean {
  return isRecord(value) && value.$function === true;
}

/** Whether a value is a plain object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value in a few words, for a sentence. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'not there';
  if (isFunctionMark(value)) return 'a function';
  if (Array.isArray(value)) return 'a list';
  if (isRecord(value)) return 'an object';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
