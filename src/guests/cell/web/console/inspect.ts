/** Values as people read them in a log. Bounded: a hostile or huge value makes a short text, never a long run. */

const MAX_ENTRIES = 100;
const MAX_TEXT = 10_000;
const LINE_WIDTH = 72;
const CUSTOM = Symbol.for('nodejs.util.inspect.custom');

/** How far `inspect` goes. */
export interface InspectOptions {
  /** Levels of nesting that are shown; null for all. */
  readonly depth?: number | null;
}

/** A value as text, much like Node's util.inspect. */
export function inspect(value: unknown, options: InspectOptions = {}): string {
  return show(value, options.depth === null ? 50 : (options.depth ?? 2), []);
}

function show(value: unknown, depth: number, parents: readonly object[]): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (Object.is(value, -0)) return '-0';
  if (typeof value === 'function') {
    const isClass = /^class\b/.test(Function.prototype.toString.call(value));
    const name = String(value.name);
    return `[${isClass ? 'class' : `Function${name === '' ? '' : ':'}`} ${name || '(anonymous)'}]`;
  }
  if (typeof value !== 'object' || value === null) return String(value);
  if (parents.includes(value)) return '[Circular]';
  try {
    return showObject(value, depth, [...parents, value]);
  } catch {
    // Proxies and getters of plugins may throw; a log line must not.
    return '[Object]';
  }
}

function quote(text: string): string {
  const shown = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  const mark = !shown.includes("'") ? "'" : !shown.includes('"') ? '"' : '`';
  return mark + JSON.stringify(shown).slice(1, -1).replaceAll('\\"', '"') + mark;
}

function showObject(value: object, depth: number, parents: readonly object[]): string {
  const name = value.constructor?.name;
  const custom: unknown = Reflect.get(value, CUSTOM);
  if (typeof custom === 'function') {
    const shown: unknown = custom.call(value, depth, {}, inspect);
    return typeof shown === 'string' ? shown : show(shown, depth - 1, parents);
  }
  if (value instanceof Error) return showError(value, depth, parents);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Number || value instanceof String || value instanceof Boolean) {
    return `[${name}: ${show(value.valueOf(), depth, parents)}]`;
  }
  const { toJSON } = value as { toJSON?: unknown };
  const isWebObject = name === 'URL' || name === 'URLSearchParams' || name === 'Headers';
  if (isWebObject)
    return `${name} ${show(typeof toJSON === 'function' ? String(value) : [...(value as Iterable<unknown>)], depth, parents)}`;
  const list = Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
  const prefix = list
    ? Array.isArray(value)
      ? ''
      : `${name}(${(value as Uint8Array).length}) `
    : value instanceof Map || value instanceof Set
      ? `${name}(${value.size}) `
      : name === 'Object'
        ? ''
        : `${name ? name : '[Object: null prototype]'} `;
  if (depth < 0) return list ? '[Array]' : `[${name ?? 'Object'}]`;
  const inner = (part: unknown) => show(part, depth - 1, parents);
  return join(prefix, collectParts(value, list, inner), list);
}

function collectParts(value: object, list: boolean, inner: (part: unknown) => string): string[] {
  const parts: string[] = [];
  const items = list ? (value as unknown[]) : [];
  for (let index = 0; index < items.length && index < MAX_ENTRIES; index++) parts.push(inner(items[index]));
  let more = items.length - parts.length;
  if (value instanceof Map || value instanceof Set) {
    for (const [key, item] of value.entries()) {
      if (parts.length >= MAX_ENTRIES) break;
      parts.push(value instanceof Map ? `${inner(key)} => ${inner(item)}` : inner(item));
    }
    more = value.size - parts.length;
  }
  const keys = list && !Array.isArray(value) ? [] : Object.keys(value);
  for (const key of keys.slice(list ? items.length : 0)) {
    if (parts.length >= MAX_ENTRIES) {
      more++;
      continue;
    }
    const { get } = Object.getOwnPropertyDescriptor(value, key) ?? {};
    const label = /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key);
    parts.push(`${label}: ${get ? '[Getter]' : inner(Reflect.get(value, key))}`);
  }
  if (more > 0) parts.push(`... ${more} more`);
  return parts;
}

function join(prefix: string, parts: readonly string[], list: boolean): string {
  const [open, close] = list ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return `${prefix}${open}${close}`;
  const line = parts.join(', ');
  if (line.length <= LINE_WIDTH && !line.includes('\n')) return `${prefix}${open} ${line} ${close}`;
  return `${prefix}${open}\n${parts.map((part) => `  ${part.replaceAll('\n', '\n  ')}`).join(',\n')}\n${close}`;
}

function showError(error: Error, depth: number, parents: readonly object[]): string {
  // How the sandbox came to call the plugin is nobody's business who reads a log.
  const stack = String(error.stack ?? '')
    .replace(/^ +at .*\((?:native|prelude\.js[:\d]*)\)\n?/gm, '')
    .trimEnd();
  const head = stack === '' ? `[${error.name}: ${error.message}]` : `${error.name}: ${error.message}\n${stack}`;
  const extra = Object.keys(error).filter((key) => key !== 'stack' && key !== 'message');
  const shown = extra.map((key) => `${key}: ${show(Reflect.get(error, key), depth - 1, parents)}`);
  if (error.cause !== undefined) shown.push(`[cause]: ${show(error.cause, depth - 1, parents)}`);
  return shown.length === 0 || depth < 0 ? head : `${head} ${join('', shown, false)}`;
}
