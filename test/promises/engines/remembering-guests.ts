import { assemble } from '../../engines/extism/wat-program.ts';
import type { Part } from './subjects.ts';

/** A plugin that remembers in every way it can: its tool `<plugin>_put` takes a text, `<plugin>_get` says what it knows. */
export interface RememberingGuest {
  readonly title: string;
  readonly plugin: string;
  readonly needs?: Part;
  files(): Promise<Readonly<Record<string, string | Uint8Array>>>;
}

const scriptGuest = (engine: string, isolation: 'call' | 'session', needs?: Part): RememberingGuest => {
  const plugin = `remembers_${engine}_${isolation}`;
  return {
    title: `${engine}, isolation ${isolation}`,
    plugin,
    ...(needs === undefined ? {} : { needs }),
    files: async () => ({ [`${plugin}.ts`]: rememberingPlugin(plugin, engine, isolation) }),
  };
};

/** One for each engine and isolation. */
export const rememberingGuests: readonly RememberingGuest[] = [
  scriptGuest('quickjs', 'call'),
  scriptGuest('quickjs', 'session'),
  {
    title: 'extism',
    plugin: 'remembers_extism',
    files: async () => ({
      'remembers_extism.wasm': await assembleRemembering(),
      'remembers_extism.json': JSON.stringify({
        name: 'remembers_extism',
        permissions: { kv: true },
        tools: {
          remembers_extism_put: { description: 'Remembers.', export: 'put' },
          remembers_extism_get: { description: 'Tells.', export: 'get' },
          remembers_extism_kept: { description: 'Lists.', export: 'kept' },
        },
      }),
    }),
  },
  scriptGuest('deno', 'call', 'deno'),
  scriptGuest('deno', 'session', 'deno'),
  scriptGuest('docker', 'call', 'docker'),
  scriptGuest('docker', 'session', 'docker'),
];

/** What `<plugin>_get` says when nothing was put before it. */
export const nothingKnown = { memory: [], left: null, kv: null, files: [], native: null, variable: null };

function rememberingPlugin(plugin: string, engine: string, isolation: string): string {
  const hasModules = engine !== 'quickjs';
  // In a container everybody may write to /tmp; Deno stands in the workspace of the caller.
  const native = engine === 'docker' ? '/tmp/native.txt' : 'native.txt';
  return `let memory: string[] = [];
const anything = globalThis as any;
export default {
  name: '${plugin}', description: 'Remembers.', engine: '${engine}', isolation: '${isolation}',
  permissions: { kv: true, read: ['.'], write: ['.'] },
  tools: {
    ${plugin}_put: {
      description: 'Remembers a text.', parameters: { type: 'object' },
      handler: async ({ text }: any, context: any) => {
        memory.push(text);
        (Array.prototype as any).left = text;
        setTimeout(() => memory.push('timer of ' + text), 5);
        await context.kv.set('text', text);
        await context.files.write('text.txt', text);
        ${hasModules ? `await (await import('node:fs/promises')).writeFile('${native}', text); anything.process.env.LEFT = text;` : ''}
        return { mine: memory.filter((each) => !each.includes(text)), stored: await context.kv.get('text') };
      },
    },
    ${plugin}_get: {
      description: 'Says what it knows.', parameters: { type: 'object' },
      handler: async (_args: any, context: any) => ({
        memory,
        left: ([] as any).left ?? null,
        kv: (await context.kv.get('text')) ?? null,
        files: (await context.files.list('.')).items.map((item: any) => item.name),
        native: ${hasModules ? `await (await import('node:fs/promises')).readFile('${native}', 'utf8').catch(() => null)` : 'null'},
        variable: ${hasModules ? 'anything.process.env.LEFT ?? null' : 'null'},
      }),
    },
  },
};
`;
}

/** `put` raises a global, grows the memory, writes to it, and keeps a variable; `get` answers all four as JSON. */
function assembleRemembering(): Promise<Uint8Array> {
  const list = '{"op":"kv.list","payload":{}}';
  return assemble(`(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))
  (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
  (import "extism:host/user" "kv_set" (func $kv_set (param i64 i64)))
  (import "extism:host/user" "hotcell_call" (func $hotcell_call (param i64) (result i64)))
  (memory (export "memory") 1)
  (global $count (mut i32) (i32.const 0))
  (data (i32.const 0) "[0,0,0,0]")
  (data (i32.const 32) "7")
  (data (i32.const 64) "${list.replaceAll('"', '\\22')}")

  (func $block (param $at i32) (param $size i64) (result i64) (local $block i64) (local $i i64)
    (local.set $block (call $alloc (local.get $size)))
    (loop $next
      (call $store (i64.add (local.get $block) (local.get $i))
        (i32.load8_u (i32.add (local.get $at) (i32.wrap_i64 (local.get $i)))))
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br_if $next (i64.lt_u (local.get $i) (local.get $size))))
    (local.get $block))
  (func $say (param $block i64) (result i32)
    (call $output_set (local.get $block) (call $length (local.get $block))) (i32.const 0))

  (func (export "put") (result i32)
    (global.set $count (i32.add (global.get $count) (i32.const 1)))
    (i32.store8 (i32.const 128) (i32.const 1))
    (drop (memory.grow (i32.const 1)))
    (call $var_set (call $block (i32.const 32) (i64.const 1)) (call $block (i32.const 32) (i64.const 1)))
    (call $kv_set (call $block (i32.const 32) (i64.const 1)) (call $block (i32.const 32) (i64.const 1)))
    (call $say (call $hotcell_call (call $block (i32.const 64) (i64.const ${list.length})))))
  ;; [times put, byte of the memory, pages grown, variable there]
  (func (export "get") (result i32)
    (i32.store8 (i32.const 1) (i32.add (i32.const 48) (global.get $count)))
    (i32.store8 (i32.const 3) (i32.add (i32.const 48) (i32.load8_u (i32.const 128))))
    (i32.store8 (i32.const 5) (i32.add (i32.const 47) (memory.size)))
    (i32.store8 (i32.const 7) (i32.add (i32.const 48) (i64.ne (call $var_get (call $block (i32.const 32) (i64.const 1))) (i64.const 0))))
    (call $say (call $block (i32.const 0) (i64.const 9))))
  (func (export "kept") (result i32) (call $say (call $hotcell_call (call $block (i32.const 64) (i64.const ${list.length}))))))`);
}
