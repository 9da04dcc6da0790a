/** How `inspect` shows what is rarer than plain objects, lists and errors, long lists, and tables. */
import { inspect, label } from '../base.ts';
import type { Description } from '../console/inspect.ts';

type Item = NonNullable<Description['items']> extends Iterable<infer Each> ? Each : never;

const urlParts = 'href,origin,protocol,username,password,host,hostname,port,pathname,search,searchParams,hash'.split(',');

/** Describes a value whose class has this name; `keys` are those of its own that are shown. */
export function describe(value: object, name: string | undefined, keys: Description['keys']): Description {
  const tag: unknown = Reflect.get(value, Symbol.toStringTag);
  const hasTag =
    typeof tag === 'string' &&
    tag !== '' &&
    tag !== name &&
    !Object.prototype.propertyIsEnumerable.call(value, Symbol.toStringTag);
  const own = `${name ?? '[Object: null prototype]'} `;
  const prefix = hasTag ? `${own}[${tag}] ` : own;
  if (typeof value === 'function') return { base: describeFunction(value, name), keys };
  if (value instanceof RegExp) return { base: String(value), keys };
  const kind = Object.prototype.toString.call(value);
  if (/^\[object (?:Number|String|Boolean|Symbol|BigInt)\]$/.test(kind) && typeof value.valueOf() !== 'object') {
    return { base: `[${name}: ${inspect(value.valueOf())}]`, keys: typeof value.valueOf() === 'string' ? [] : keys };
  }
  if (Array.isArray(value)) return { prefix: `${name}(${value.length}) `, kind: 'list', keys };
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return { prefix: `${name}(${(value as Uint8Array).length}) `, kind: 'list', keys };
  }
  if (value instanceof Map || value instanceof Set) {
    const counted = `${name}(${value.size}) ${hasTag ? `[${tag}] ` : ''}`;
    return { prefix: counted, keys, items: value instanceof Map ? pairs(value) : members(value) };
  }
  if (tag === 'URLSearchParams' || tag === 'FormData') return { prefix: own, keys, items: pairs(value as Map<unknown, unknown>) };
  if (tag === 'Headers')
    return { prefix: own, keys: [], items: pairs(value as Map<unknown, unknown>, (key) => label(String(key)), ': ') };
  if (tag === 'URL') return { prefix: own, keys: urlParts };
  if (value instanceof WeakMap || value instanceof WeakSet) return { prefix: own, keys, items: [() => '<items unknown>'] };
  if (value instanceof ArrayBuffer) return { prefix: own, keys, items: describeBytes(value) };
  return { prefix: kind === '[object Arguments]' ? '[Arguments] ' : prefix, keys };
}

function describeFunction(value: CallableFunction, kind = 'Function'): string {
  const shown = value.name === '' ? '(anonymous)' : String(value.name);
  if (!/^class\b/.test(Function.prototype.toString.call(value))) return `[${kind}${value.name === '' ? '' : ':'} ${shown}]`;
  const parent: unknown = Object.getPrototypeOf(value)?.name;
  return `[class ${shown}${parent ? ` extends ${String(parent)}` : ''}]`;
}

function* pairs(map: Iterable<[unknown, unknown]>, showKey?: (key: unknown) => string, joint = ' => '): Generator<Item> {
  for (const [key, item] of map) yield (inner) => `${(showKey ?? inner)(key)}${joint}${inner(item)}`;
}

function* members(set: Iterable<unknown>): Generator<Item> {
  for (const item of set) yield (inner) => inner(item);
}

function describeBytes(buffer: ArrayBuffer): readonly Item[] {
  const bytes = [...new Uint8Array(buffer).subarray(0, 50)].map((byte) => byte.toString(16).padStart(2, '0'));
  const more = buffer.byteLength > 50 ? ` ... ${buffer.byteLength - 50} more byte${buffer.byteLength > 51 ? 's' : ''}` : '';
  return [() => `[Uint8Contents]: <${bytes.join(' ')}${more}>`, () => `[byteLength]: ${buffer.byteLength}`];
}

/** As Node lays out lists of short parts: about as wide as high, numbers to the right. */
export function toColumns(
  all: readonly string[],
  { breakLength, level }: { breakLength: number; level: number },
): readonly string[] {
  const last = all.at(-1) ?? '';
  const hasMore = last.startsWith('... ');
  const parts = hasMore ? all.slice(0, -1) : all;
  const widest = Math.max(...parts.map((part) => part.length)) + 2;
  const total = parts.reduce((sum, part) => sum + part.length + 2, 0);
  if (widest * 3 + 2 * level >= breakLength || (total / widest <= 5 && widest > 8)) return all;
  const biased = Math.max(widest - 3 - Math.sqrt(widest - total / all.length), 1);
  const wanted = Math.round(Math.sqrt(2.5 * biased * parts.length) / biased);
  const count = Math.min(wanted, Math.floor((breakLength - 2 * level) / widest), 12);
  if (count <= 1) return all;
  const isNumeric = parts.every((part) => /^-?[\d.]+(?:e[+-]\d+)?n?$/.test(part));
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(...parts.filter((_part, index) => index % count === column).map((part) => part.length)),
  );
  const rows: string[] = [];
  for (let at = 0; at < parts.length; at += count) {
    const row = parts.slice(at, at + count).map((part, column, { length }) => {
      const isLast = column === length - 1;
      const width = widths[column] ?? 0;
      if (isNumeric) return isLast ? part.padStart(width) : `${part}, `.padStart(width + 2);
      return isLast ? part : `${part}, `.padEnd(width + 2);
    });
    rows.push(row.join(''));
  }
  return hasMore ? [...rows, last] : rows;
}

/** What `console.table` writes. */
export function drawTable(data: object, only?: readonly string[]): string {
  const entries: [unknown, unknown][] = data instanceof Map ? [...data] : Object.entries(data);
  const cells = entries.map(([key, row]) => ({ key: String(key), row, isRecord: typeof row === 'object' && row !== null }));
  const columns = only ?? [...new Set(cells.flatMap(({ row, isRecord }) => (isRecord ? Object.keys(row as object) : [])))];
  const hasValues = cells.some(({ isRecord }) => !isRecord);
  const lines = [
    ['(index)', ...columns, ...(hasValues ? ['Values'] : [])],
    ...cells.map(({ key, row, isRecord }) => [
      key,
      ...columns.map((column) =>
        isRecord && Object.hasOwn(row as object, column) ? inspect(Reflect.get(row as object, column), { depth: 0 }) : '',
      ),
      ...(hasValues ? [isRecord ? '' : inspect(row)] : []),
    ]),
  ];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  const drawn = lines.map((line) => `│ ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' │ ')} │`);
  const rule = (marks: string) => marks[0] + widths.map((width) => '─'.repeat(width + 2)).join(marks[1]) + marks[2];
  return [rule('┌┬┐'), drawn[0], rule('├┼┤'), ...drawn.slice(1), rule('└┴┘')].join('\n');
}
