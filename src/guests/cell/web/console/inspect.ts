/** Values as people read them in a log, as Node shows them. Bounded: a hostile or huge value makes a short text, never a long run. */

import { loadModule } from '../define.ts';

const MAX_DEPTH = 50;
const MAX_TEXT = 10_000;
const nothing: readonly never[] = [];
const CUSTOM = Symbol.for('nodejs.util.inspect.custom');

/** How far `inspect` goes, as in Node; null is without end where there is one. */
export interface InspectOptions {
  /** Levels of nesting that are shown. */
  readonly depth?: number | null;
  readonly breakLength?: number;
  /** How many levels share a line; false for none. */
  readonly compact?: number | boolean;
  readonly maxArrayLength?: number | null;
  readonly maxStringLength?: number | null;
  readonly sorted?: boolean | ((left: string, right: string) => number);
}

/** What is particular of a value. */
export interface Description {
  /** All of it, beside its keys. */
  readonly base?: string;
  /** What stands before the bracket. */
  readonly prefix?: string;
  readonly kind?: 'list' | 'object';
  readonly keys: readonly (string | symbol)[];
  /** What it holds beside its keys. */
  readonly items?: Iterable<(inner: (part: unknown) => string) => string>;
}

/** What holds while one value is shown. */
interface Showing {
  readonly options: InspectOptions;
  readonly depth: number;
  readonly maxEntries: number;
  readonly parents: object[];
  /** Objects that are within themselves, in the order in which that was seen. */
  readonly circular: object[];
  /** How deep the object is that was shown last. */
  deepest: number;
}

/** A value as text, much like Node's util.inspect. */
export function inspect(value: unknown, options: InspectOptions = {}): string {
  const { depth = 2, maxArrayLength = 100 } = options;
  return show(value, {
    options,
    depth: Math.min(depth ?? MAX_DEPTH, MAX_DEPTH),
    maxEntries: maxArrayLength ?? MAX_TEXT,
    parents: [],
    circular: [],
    deepest: 0,
  });
}

function show(value: unknown, showing: Showing): string {
  if (typeof value === 'string') return quote(value, showing.options.maxStringLength ?? MAX_TEXT);
  if (typeof value === 'bigint') return `${value}n`;
  if (Object.is(value, -0)) return '-0';
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return String(value);
  const { circular, parents } = showing;
  if (parents.includes(value)) {
    if (!circular.includes(value)) circular.push(value);
    return `[Circular *${circular.indexOf(value) + 1}]`;
  }
  parents.push(value);
  try {
    const text = showObject(value, showing);
    const at = circular.indexOf(value);
    return at < 0 ? text : `<ref *${at + 1}> ${text}`;
  } catch {
    // Proxies and getters of plugins may throw; a log line must not.
    return '[Object]';
  } finally {
    parents.pop();
  }
}

function quote(text: string, maxChars: number): string {
  const mark = !text.includes("'") ? "'" : !text.includes('"') ? '"' : '`';
  const left = text.length - maxChars;
  const escaped = JSON.stringify(text.slice(0, maxChars)).slice(1, -1);
  const shown = escaped.replace(/\\(?:u00(..)|.)/g, (whole, code) =>
    code ? `\\x${code.toUpperCase()}` : whole === '\\"' ? '"' : whole,
  );
  return mark + shown + mark + (left > 0 ? `... ${left} more character${left > 1 ? 's' : ''}` : '');
}

function showObject(value: object, showing: Showing): string {
  const level = showing.parents.length - 1;
  const custom: unknown = Reflect.get(value, CUSTOM);
  if (typeof custom === 'function') {
    const depth = showing.depth - level;
    const shown: unknown = custom.call(value, depth, { stylize: String, ...showing.options, depth }, inspect);
    return typeof shown === 'string' ? shown : show(shown, showing);
  }
  const { base = '', prefix = '', kind = 'object', keys, items = nothing } = describe(value, listKeys(value, showing.options));
  if (base !== '' && keys.length === 0) return base;
  const isEmpty = keys.length === 0 && (kind === 'list' ? (value as unknown[]).length === 0 : items === nothing);
  if (level > showing.depth && !isEmpty) {
    return prefix.startsWith('[') ? prefix.trim() : `[${/^\w+/.exec(prefix)?.[0] ?? (kind === 'list' ? 'Array' : 'Object')}]`;
  }
  if (!isEmpty) showing.deepest = level;
  return join({ base, prefix, kind, level }, collectParts(value, { kind, keys, items }, showing), showing);
}

/** How a value begins: with a text of its own, or with what stands before its bracket. What is rare is described by a lazy module. */
function describe(value: object, keys: readonly (string | symbol)[]): Description {
  const kind = Object.prototype.toString.call(value);
  if (value instanceof Error) return { base: describeError(value), keys };
  if (value instanceof Date) return { base: Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString(), keys };
  const name = nameOf(value);
  if (kind === '[object Array]' && name === 'Array') return { kind: 'list', keys };
  if (kind !== '[object Object]' || name === undefined) return loadModule('inspect').describe(value, name, keys);
  return { prefix: name === 'Object' ? '' : `${name} `, keys };
}

function nameOf(value: object): string | undefined {
  for (let holder: object | null = value; holder; holder = Object.getPrototypeOf(holder)) {
    const maker: unknown = Object.getOwnPropertyDescriptor(holder, 'constructor')?.value;
    if (typeof maker === 'function' && maker.name !== '') return maker.name;
  }
  return undefined;
}

function describeError(error: Error): string {
  // How the sandbox came to call the plugin is nobody's business who reads a log.
  const stack = String(error.stack ?? '')
    .replace(/^ +at .*\((?:native|prelude\.js[:\d]*)\)\n?/gm, '')
    .trimEnd();
  const head = error.message === '' ? error.name : `${error.name}: ${error.message}`;
  return stack === '' ? `[${head}]` : stack.startsWith(head) ? stack : `${head}\n${stack}`;
}

function listKeys(value: object, { sorted }: InspectOptions): readonly (string | symbol)[] {
  const isList = Array.isArray(value) || ArrayBuffer.isView(value);
  const names = isList ? Object.keys(value).filter((key) => !/^(?:0|[1-9]\d*)$/.test(key)) : Object.keys(value);
  if (sorted) names.sort(typeof sorted === 'function' ? sorted : undefined);
  if (value instanceof Error) {
    const shown = names.filter((name) => name !== 'stack' && name !== 'message');
    return [...shown, ...['cause', 'errors'].filter((name) => Object.hasOwn(value, name) && !shown.includes(name))];
  }
  const symbols = Object.getOwnPropertySymbols(value);
  return [...names, ...symbols.filter((key) => Object.prototype.propertyIsEnumerable.call(value, key))];
}

function collectParts(
  value: object,
  { kind, keys, items }: Pick<Required<Description>, 'kind' | 'keys' | 'items'>,
  showing: Showing,
): string[] {
  const { maxEntries } = showing;
  const inner = (part: unknown) => show(part, showing);
  const parts: string[] = [];
  let total = 0;
  if (kind === 'list') {
    const list = value as unknown[];
    total = list.length;
    let holes = 0;
    for (let index = 0; index < total && parts.length < maxEntries; index++) {
      if (index in list) parts.push(inner(list[index]));
      else if (++holes && (index + 1 in list || index + 1 === total)) {
        parts.push(`<${holes} empty item${holes > 1 ? 's' : ''}>`);
        holes = 0;
      }
    }
  } else for (const item of items) if (total++ < maxEntries) parts.push(item(inner));
  const more = (all: number, shown: number) => {
    if (all > shown) parts.push(`... ${all - shown} more item${all - shown > 1 ? 's' : ''}`);
  };
  more(total, Math.min(total, maxEntries));
  for (const key of keys.slice(0, maxEntries)) parts.push(`${label(key, value)}: ${showMember(value, key, inner)}`);
  more(keys.length, Math.min(keys.length, maxEntries));
  return parts;
}

function showMember(value: object, key: string | symbol, inner: (part: unknown) => string): string {
  const { get, set } = Object.getOwnPropertyDescriptor(value, key) ?? {};
  if (get) return set ? '[Getter/Setter]' : '[Getter]';
  return set ? '[Setter]' : inner(Reflect.get(value, key));
}

export function label(key: string | symbol, value?: object): string {
  if (typeof key === 'symbol') return String(key);
  if (value instanceof Error && !Object.prototype.propertyIsEnumerable.call(value, key)) return `[${key}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key, MAX_TEXT);
}

/** On one line what is short and not deep, else a line for each part; many short parts of a list become columns. */
function join(
  { base, prefix, kind, level }: { base: string; prefix: string; kind: string; level: number },
  parts: readonly string[],
  { options, deepest }: Showing,
): string {
  const { breakLength = 80, compact = 3 } = options;
  const [open, close] = kind === 'list' ? ['[', ']'] : ['{', '}'];
  const start = `${base === '' ? '' : `${base} `}${prefix}${open}`;
  if (parts.length === 0) return `${start}${close}`;
  const rows =
    kind === 'list' && parts.length > 6 && compact ? loadModule('inspect').toColumns(parts, { breakLength, level }) : parts;
  const levels = compact === true ? MAX_DEPTH : Number(compact);
  if (rows.length === parts.length && deepest - level < levels) {
    const chars = parts.reduce((sum, part) => sum + part.length + 2, start.length + 2 * level + 10);
    const line = parts.join(', ');
    if (chars <= breakLength && !line.includes('\n') && !base.includes('\n')) return `${start} ${line} ${close}`;
  }
  return `${start}\n${rows.map((row) => `  ${row.replaceAll('\n', '\n  ')}`).join(',\n')}\n${close}`;
}
