import { assemble } from '../../engines/extism/wat-program.ts';
import type { Part } from './subjects.ts';

/** What a guest does to one of its limits, or to itself; `fine` is what its neighbours do. */
export const deeds = [
  'fine',
  'spin',
  'wait',
  'memory',
  'stack',
  'output',
  'deep',
  'log',
  'asks',
  'burst',
  'throws',
  'ends',
] as const;
export type Deed = (typeof deeds)[number];

const moduleDeeds = deeds.filter((deed) => deed !== 'ends' && deed !== 'burst');

/** The limits of all of them. */
export const guestLimits = { cpuMs: 500, wallMs: 15_000, outputBytes: 2000, logLines: 20, hostCalls: 10, pendingHostCalls: 3 };

/** A plugin whose tools `<plugin>_<deed>` do all deeds that its engine has. */
export interface LimitGuest {
  readonly engine: string;
  readonly plugin: string;
  readonly needs?: Part;
  /** A guest that is a process can end itself, no other can; a module waits for each answer before it asks again. */
  readonly deeds: readonly Deed[];
  files(): Promise<Readonly<Record<string, string | Uint8Array>>>;
}

const scriptGuest = (engine: string, needs?: Part): LimitGuest => {
  const plugin = `limits_${engine}`;
  const own = deeds.filter((deed) => deed !== 'ends' || needs !== undefined);
  return {
    engine,
    plugin,
    ...(needs === undefined ? {} : { needs }),
    deeds: own,
    files: async () => ({ [`${plugin}.ts`]: limitPlugin(plugin, engine, own) }),
  };
};

/** One for each engine. */
export const limitGuests: readonly LimitGuest[] = [
  scriptGuest('quickjs'),
  {
    engine: 'extism',
    plugin: 'limits_extism',
    deeds: moduleDeeds,
    files: async () => ({
      'limits_extism.wasm': await assembleLimitModule(),
      'limits_extism.json': JSON.stringify({
        name: 'limits_extism',
        permissions: { kv: true, tools: ['slow'] },
        limits: guestLimits,
        tools: Object.fromEntries(
          moduleDeeds.map((deed) => [
            `limits_extism_${deed}`,
            { description: 'Does it.', export: deed === 'memory' ? 'memory_deed' : deed },
          ]),
        ),
      }),
    }),
  },
  scriptGuest('deno', 'deno'),
  scriptGuest('docker', 'docker'),
];

const bodies: Readonly<Record<Deed, string>> = {
  fine: "return 'fine';",
  spin: 'for (;;);',
  wait: "return context.tools.call('slow', {});",
  memory: 'const all: unknown[] = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1));',
  stack: 'const deeper = (n: number): number => deeper(n + 1) + 1; return deeper(0);',
  output: "return 'x'.repeat(5000);",
  deep: 'let all: unknown = 1; for (let n = 0; n < 900; n++) all = [all]; return all;',
  log: "for (let n = 0; n < 5000; n++) context.log.info('line ' + n); return 'done';",
  asks: "for (let n = 0; n < 50; n++) await context.kv.get('k');",
  burst: "await Promise.all(Array.from({ length: 8 }, () => context.tools.call('slow', {})));",
  throws: "throw new Error('on purpose');",
  ends: '(globalThis as any).process.exit(3);',
};

function limitPlugin(plugin: string, engine: string, own: readonly Deed[]): string {
  const tools = own.map(
    (deed) =>
      `${plugin}_${deed}: { description: 'Does it.', parameters: { type: 'object' }, handler: async (_args: any, context: any) => { ${bodies[deed]} } },`,
  );
  return `export default {
  name: '${plugin}', description: 'Comes to its limits.', engine: '${engine}', permissions: { kv: true, tools: ['slow'] },
  limits: ${JSON.stringify(guestLimits)},
  tools: { ${tools.join('\n    ')} },
};
`;
}

function assembleLimitModule(): Promise<Uint8Array> {
  const kvGet = '{"op":"kv.get","payload":{"key":"k"}}';
  const callSlow = '{"op":"tools.call","payload":{"name":"slow"}}';
  const quote = (text: string) => text.replaceAll('"', '\\22');
  return assemble(`(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (import "extism:host/env" "log_info" (func $log_info (param i64)))
  (import "extism:host/user" "hotcell_call" (func $hotcell_call (param i64) (result i64)))
  (memory (export "memory") 1)
  (data (i32.const 0) "fine")
  (data (i32.const 16) "on purpose")
  (data (i32.const 64) "${quote(kvGet)}")
  (data (i32.const 128) "${quote(callSlow)}")

  ;; A block with the bytes of the memory; those behind its first page read as zeros.
  (func $block (param $at i32) (param $size i64) (result i64) (local $block i64) (local $i i64)
    (local.set $block (call $alloc (local.get $size)))
    (loop $next
      (call $store (i64.add (local.get $block) (local.get $i))
        (i32.load8_u (i32.add (local.get $at) (i32.wrap_i64 (local.get $i)))))
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br_if $next (i64.lt_u (local.get $i) (local.get $size))))
    (local.get $block))
  (func $deeper (param $n i64) (result i64) (i64.add (call $deeper (i64.add (local.get $n) (i64.const 1))) (i64.const 1)))

  (func (export "fine") (result i32) (call $output_set (call $block (i32.const 0) (i64.const 4)) (i64.const 4)) (i32.const 0))
  (func (export "spin") (result i32) (loop $next (br $next)) (i32.const 0))
  (func (export "wait") (result i32)
    (drop (call $hotcell_call (call $block (i32.const 128) (i64.const ${callSlow.length})))) (i32.const 0))
  (func (export "memory_deed") (result i32)
    (loop $next
      (if (i32.eq (memory.grow (i32.const 16)) (i32.const -1)) (then (unreachable)))
      (br $next))
    (i32.const 0))
  (func (export "stack") (result i32) (i32.wrap_i64 (call $deeper (i64.const 0))))
  (func (export "output") (result i32)
    (call $output_set (call $block (i32.const 1024) (i64.const 5000)) (i64.const 5000)) (i32.const 0))
  (func (export "deep") (result i32) (local $block i64) (local $i i64)
    (local.set $block (call $alloc (i64.const 1800)))
    (loop $next
      (call $store (i64.add (local.get $block) (local.get $i)) (i32.const 91))
      (call $store (i64.add (local.get $block) (i64.add (local.get $i) (i64.const 900))) (i32.const 93))
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br_if $next (i64.lt_u (local.get $i) (i64.const 900))))
    (call $output_set (local.get $block) (i64.const 1800)) (i32.const 0))
  (func (export "log") (result i32) (local $n i32)
    (loop $next
      (call $log_info (call $block (i32.const 0) (i64.const 4)))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $n) (i32.const 5000))))
    (call $output_set (call $block (i32.const 0) (i64.const 4)) (i64.const 4)) (i32.const 0))
  (func (export "asks") (result i32) (local $n i32)
    (loop $next
      (drop (call $hotcell_call (call $block (i32.const 64) (i64.const ${kvGet.length}))))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $n) (i32.const 50))))
    (i32.const 0))
  (func (export "throws") (result i32) (call $error_set (call $block (i32.const 16) (i64.const 10))) (i32.const 1)))`);
}
