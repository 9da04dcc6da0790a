import { isObject } from '../../config/json-object.ts';
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
  return new HotcellError('manifest-invalid', `"${path}" must be ${expected}, but is ${describeManifestValue(value)}.`, {
    facts: { key: path },
    ...(fix === undefined ? {} : { fix }),
  });
}

/** What keys of other tool formats are called here. */
const words: ReadonlyMap<string, string> = new Map(
  Object.entries({
    parameters: ['inputSchema', 'input_schema', 'schema', 'args', 'arguments', 'params', 'input', 'argsSchema', 'paramsSchema'],
    handler: ['execute', 'func', 'fn', 'function', 'run', 'call', 'invoke', '_call', 'callback', 'cb', 'action'],
    description: ['title', 'label', 'summary'],
    output: ['outputSchema', 'output_schema', 'returns'],
    name: ['id', 'toolName'],
    isDangerous: ['needsApproval', 'requireApproval'],
    onLoad: ['init', 'setup', 'initialize'],
  }).flatMap(([meant, others]) => others.map((other) => [other, meant] as const)),
);
const maxUnknown = 8;

/** Refuses keys that nobody reads, all at once, each with the one that was probably meant. */
export function checkKeys(node: ManifestNode, known: readonly string[]): void {
  // An instance of a class has fields of its own.
  if (node.data.$instance === true) return;
  const unknown = Object.keys(node.data).filter((key) => !known.includes(key));
  const [first] = unknown;
  if (first === undefined) return;
  const told = unknown.slice(0, maxUnknown).map((key) => ({ path: pathOf(node, key), hint: suggestKey(key, known) }));
  const named = told.map(({ path, hint }) => `"${path}".${hint}`);
  const more = unknown.length > maxUnknown ? ` And ${unknown.length - maxUnknown} more.` : '';
  const message = named.length === 1 ? `Unknown key ${named[0]}` : `Unknown keys: ${named.join(' ')}${more}`;
  const hints = told.some(({ hint }) => hint !== '');
  const one = `Correct the key.${told[0]?.hint ?? ''}`;
  throw new HotcellError('manifest-invalid', message, {
    facts: { key: pathOf(node, first) },
    fix: hints
      ? named.length === 1
        ? one
        : 'Correct the keys as named above; what Hotcell does not read belongs into metadata.'
      : 'Remove it, or move it into metadata, where anything may stand.',
  });
}

function suggestKey(key: string, known: readonly string[]): string {
  const meant = words.get(key);
  return meant !== undefined && known.includes(meant) ? ` Here it is called "${meant}".` : suggestNearNames(key, known);
}

/** A text of bounded length, or undefined. */
export function readTextField(node: ManifestNode, key: string, maxLength: number): string | undefined {
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
  if (!isObject(value) || isFunctionMark(value)) throw invalidField(pathOf(node, key), 'an object', value);
  return { path: pathOf(node, key), data: value };
}

/** Whether a value stands for a function of the guest. */
export function isFunctionMark(value: unknown): boolean {
  return isObject(value) && value.$function === true;
}

/** A value in a few words, for a sentence. */
export function describeManifestValue(value: unknown): string {
  if (value === undefined) return 'not there';
  if (isFunctionMark(value)) return 'a function';
  if (Array.isArray(value)) return 'a list';
  if (isObject(value)) return 'an object';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
