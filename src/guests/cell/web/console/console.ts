/** `console`: every line is one log entry of the call. */
import { tell } from '../../border.ts';
import { readElapsed } from '../../clock.ts';
import { loadModule } from '../define.ts';
import { formatLog } from './format-log.ts';
import { inspect } from './inspect.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** The host keeps no more of one line: sending it would only cost memory. */
const MAX_LINE = 16_384;

const counts = new Map<string, number>();
const started = new Map<string, number>();
let indent = '';

function write(level: Level, values: readonly unknown[]): void {
  const line = formatLog(values).slice(0, MAX_LINE);
  const text = indent === '' ? line : (indent + line.replaceAll('\n', `\n${indent}`)).slice(0, MAX_LINE);
  tell('log', JSON.stringify({ level, text }));
}

const info = (...values: unknown[]) => write('info', values);
const debug = (...values: unknown[]) => write('debug', values);

/** The global `console`. */
export const console = {
  log: info,
  info,
  dir: (value: unknown, options?: object) => info(inspect(value, options)),
  dirxml: info,
  debug,
  trace: (...values: unknown[]) => debug('Trace:', ...values, `\n${new Error('').stack ?? ''}`),
  warn: (...values: unknown[]) => write('warn', values),
  error: (...values: unknown[]) => write('error', values),
  clear(): void {},
  assert(condition?: unknown, ...values: unknown[]): void {
    if (!condition) write('error', ['Assertion failed', ...values]);
  },
  group(...values: unknown[]): void {
    if (values.length > 0) info(...values);
    indent += '  ';
  },
  groupCollapsed: (...values: unknown[]) => console.group(...values),
  groupEnd(): void {
    indent = indent.slice(2);
  },
  count(label = 'default'): void {
    counts.set(label, (counts.get(label) ?? 0) + 1);
    info(`${label}: ${counts.get(label)}`);
  },
  countReset: (label = 'default') => counts.delete(label),
  time: (label = 'default') => started.set(label, readElapsed()),
  timeLog: (label = 'default', ...values: unknown[]) =>
    info(`${label}: ${readElapsed() - (started.get(label) ?? 0)}ms`, ...values),
  timeEnd(label = 'default'): void {
    console.timeLog(label);
    started.delete(label);
  },
  table: (data: unknown, columns?: readonly string[]) =>
    info(typeof data === 'object' && data !== null ? loadModule('inspect').drawTable(data, columns) : data),
};
