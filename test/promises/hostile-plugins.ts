import type { ErrorCode } from '../../src/errors/catalog.ts';

/** One attack on the daemon: the body of a handler, and how a call of it may end. */
export interface Attack {
  readonly name: string;
  readonly body: string;
  /** Absent where two limits race, and either may win. */
  readonly status?: 'success' | 'error' | 'timeout';
  readonly codes: readonly ErrorCode[];
  /** The wall clock of the attack, in ms, where it does nothing but let time pass. */
  readonly timeoutMs?: number;
}

/** Small limits, so that an attack is over soon. */
export const attackLimits = { cpuMs: 200, memoryBytes: 24 * 1024 * 1024 };

/** The wall clock of an attack, in ms. */
const attackTimeoutMs = 2000;

/** Everything that a plugin may try. */
export const attacks: readonly Attack[] = [
  { name: 'endless-loop', body: 'while (true) {}', status: 'timeout', codes: ['time-exceeded'] },
  {
    name: 'loop-that-catches',
    body: 'while (true) { try { null.x } catch {} }',
    status: 'timeout',
    codes: ['time-exceeded'],
  },
  { name: 'sparse-to-text', body: "return new Array(1e9) + ''", status: 'timeout', codes: ['time-exceeded'] },
  {
    name: 'sparse-sort',
    body: 'const a = []; a.length = 4294967295; a[0] = 1; return a.sort().length',
    status: 'timeout',
    codes: ['time-exceeded', 'memory-exceeded'],
  },
  {
    name: 'sparse-index-of',
    body: 'const a = []; a.length = 4294967295; return a.indexOf(1) + a.lastIndexOf(1)',
    status: 'timeout',
    codes: ['time-exceeded'],
  },
  {
    name: 'json-bomb',
    body: 'let x = ["x"]; for (let i = 0; i < 60; i++) x = [x, x]; return x',
    codes: ['time-exceeded', 'memory-exceeded', 'output-exceeded'],
  },
  {
    name: 'unbounded-allocation',
    body: 'const a = []; while (true) a.push(new Array(1000).fill(7))',
    // On a busy machine its time ends first.
    codes: ['memory-exceeded', 'time-exceeded'],
  },
  {
    name: 'allocation-that-catches',
    body: 'const a = []; while (true) { try { a.push(new Array(1000).fill(7)) } catch {} }',
    codes: ['time-exceeded', 'memory-exceeded'],
  },
  { name: 'one-large-buffer', body: 'return new ArrayBuffer(1e9).byteLength', status: 'error', codes: ['memory-exceeded'] },
  { name: 'deep-recursion', body: 'const f = () => f() + 1; return f()', status: 'error', codes: ['stack-exceeded'] },
  {
    name: 'deep-json',
    body: 'let x = []; for (let i = 0; i < 1e5; i++) x = [x]; return x',
    codes: ['stack-exceeded', 'handler-threw', 'memory-exceeded', 'time-exceeded'],
  },
  {
    name: 'endless-microtasks',
    body: 'const f = () => Promise.resolve().then(f); return f()',
    codes: ['time-exceeded', 'memory-exceeded'],
  },
  {
    name: 'endless-timers',
    body: 'const f = () => setTimeout(f, 0); f(); return new Promise(() => {})',
    codes: ['time-exceeded', 'host-calls-exceeded', 'handler-never-settles'],
  },
  {
    name: 'catastrophic-pattern',
    body: 'return /(a+)+$/.test("a".repeat(40) + "!")',
    status: 'timeout',
    codes: ['time-exceeded'],
  },
  {
    name: 'log-flood',
    body: 'const line = "x".repeat(1e6); for (let i = 0; i < 100; i++) console.log(line); return "done"',
    codes: ['time-exceeded'],
  },
  {
    name: 'never-settles',
    body: 'return new Promise(() => {})',
    status: 'timeout',
    codes: ['handler-never-settles'],
  },
  {
    name: 'waits-for-ever',
    body: 'return new Promise(() => setInterval(() => {}, 1000))',
    status: 'timeout',
    codes: ['time-exceeded'],
    timeoutMs: 500,
  },
  {
    name: 'throwing-getter',
    body: 'return { get x() { throw new Error("the getter says no") } }',
    status: 'error',
    codes: ['handler-threw'],
  },
  { name: 'cyclic-output', body: 'const o = {}; o.o = o; return o', status: 'error', codes: ['output-invalid'] },
  {
    name: 'output-beyond-limit',
    body: 'return "x".repeat(3e6)',
    status: 'error',
    codes: ['output-exceeded'],
  },
  {
    name: 'output-beyond-memory',
    body: 'return "x".repeat(5e8)',
    status: 'error',
    codes: ['memory-exceeded', 'output-exceeded'],
  },
  {
    name: 'output-in-pieces',
    body: 'const piece = "x".repeat(1e6); return Array(500).fill(piece)',
    codes: ['memory-exceeded', 'output-exceeded', 'time-exceeded'],
  },
  {
    name: 'huge-host-payload',
    body: 'await context.kv.set("k", "x".repeat(6e6))',
    codes: ['payload-too-large', 'quota-exceeded', 'memory-exceeded', 'time-exceeded', 'handler-threw', 'permission-denied'],
  },
  {
    name: 'many-huge-host-payloads',
    body: 'const big = "x".repeat(2e6); await Promise.all(Array.from({ length: 60 }, () => context.kv.set("k", big)))',
    codes: ['quota-exceeded', 'memory-exceeded', 'time-exceeded', 'pending-host-calls-exceeded', 'permission-denied'],
  },
  {
    name: 'host-call-flood',
    body: 'for (;;) await context.kv.get("k").catch(() => {})',
    codes: ['host-calls-exceeded', 'time-exceeded'],
  },
  { name: 'giant-error', body: 'throw new Error("x".repeat(6e6))', codes: ['handler-threw', 'time-exceeded'] },
  {
    name: 'error-with-getters',
    body: 'throw { get message() { throw new Error("no") }, get stack() { while (true) {} } }',
    codes: ['handler-threw', 'time-exceeded'],
  },
  {
    name: 'error-whose-getter-loops',
    body: 'throw { get message() { while (true) {} } }',
    status: 'timeout',
    codes: ['time-exceeded'],
  },
  {
    name: 'error-of-many-lines',
    body: 'const e = new Error("no"); e.stack = "    at f (plugin.js:1:1)\\n".repeat(2e5); throw e',
    status: 'error',
    codes: ['handler-threw'],
  },
];

/** The plugin of an attack; with `{calm: true}` it does nothing. */
export function writeAttack({ name, body, timeoutMs = attackTimeoutMs }: Attack): string {
  return `export default {
  name: '${name}',
  description: 'Does harm.',
  parameters: { type: 'object' },
  permissions: { kv: true },
  timeoutMs: ${timeoutMs},
  limits: ${JSON.stringify(attackLimits)},
  handler: async (args: { calm?: boolean }, context: any) => {
    if (args.calm) return 'calm';
    ${body}
  },
};
`;
}

/** A plugin that does nothing but its work. */
export const neighbour = `export default {
  name: 'neighbour',
  description: 'Adds one.',
  handler: (args: { n: number }) => ({ n: args.n + 1 }),
};
`;

/** Writes all attacks and the neighbour into a folder of plugins. */
export function listHostilePlugins(): Record<string, string> {
  const files: Record<string, string> = { 'neighbour.ts': neighbour };
  for (const attack of attacks) files[`${attack.name}.ts`] = writeAttack(attack);
  return files;
}
