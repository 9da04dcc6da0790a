import { assemble } from '../../engines/extism/wat-program.ts';

/** The tools of the probe as a module; each passes its arguments on to one host function and answers what that answers. */
export const probeTools = ['ask', 'http', 'ask_turned', 'http_turned', 'setting'] as const;

/**
 * The probe as a WebAssembly module. `ask` hands its arguments `{op, payload, body?}` to `hotcell_call`, `http` its own
 * `{url, method?, headers?}` to `http_request`, `setting` the name in `{"name":"…"}` to `config_get`; those that
 * end in `turned` answer the same from the last byte to the first. `@@@` stands for the value of HEADER_KEY.
 */
export function assembleProbe(): Promise<Uint8Array> {
  return assemble(`(module
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input (param i64) (result i32)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load (param i64) (result i32)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
  (import "extism:host/env" "http_request" (func $http_request (param i64 i64) (result i64)))
  (import "extism:host/user" "hotcell_call" (func $hotcell_call (param i64) (result i64)))
  (memory (export "memory") 1)
  (data (i32.const 0) "HEADER_KEY")

  ;; A block with the name of the setting that stands at 0.
  (func $key (result i64) (local $block i64) (local $i i64)
    (local.set $block (call $alloc (i64.const 10)))
    (loop $next
      (call $store (i64.add (local.get $block) (local.get $i)) (i32.load8_u (i32.wrap_i64 (local.get $i))))
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br_if $next (i64.lt_u (local.get $i) (i64.const 10))))
    (local.get $block))

  ;; True where the input says @@@.
  (func $marks (param $i i64) (result i32)
    (if (i64.gt_u (i64.add (local.get $i) (i64.const 3)) (call $input_length)) (then (return (i32.const 0))))
    (i32.and (i32.eq (call $input (local.get $i)) (i32.const 64))
      (i32.and (i32.eq (call $input (i64.add (local.get $i) (i64.const 1))) (i32.const 64))
        (i32.eq (call $input (i64.add (local.get $i) (i64.const 2))) (i32.const 64)))))

  ;; The input with the marks replaced, and blanks behind it.
  (func $filled (result i64) (local $block i64) (local $size i64) (local $i i64) (local $o i64) (local $value i64) (local $k i64)
    (local.set $size (i64.add (call $input_length) (i64.const 4096)))
    (local.set $block (call $alloc (local.get $size)))
    (loop $blank
      (call $store (i64.add (local.get $block) (local.get $o)) (i32.const 32))
      (local.set $o (i64.add (local.get $o) (i64.const 1)))
      (br_if $blank (i64.lt_u (local.get $o) (local.get $size))))
    (local.set $o (local.get $block))
    (loop $next
      (if (call $marks (local.get $i))
        (then
          (local.set $i (i64.add (local.get $i) (i64.const 3)))
          (local.set $value (call $config_get (call $key)))
          (local.set $k (i64.const 0))
          (block $done (loop $copy
            (br_if $done (i64.ge_u (local.get $k) (call $length (local.get $value))))
            (call $store (local.get $o) (call $load (i64.add (local.get $value) (local.get $k))))
            (local.set $o (i64.add (local.get $o) (i64.const 1)))
            (local.set $k (i64.add (local.get $k) (i64.const 1)))
            (br $copy))))
        (else
          (call $store (local.get $o) (call $input (local.get $i)))
          (local.set $o (i64.add (local.get $o) (i64.const 1)))
          (local.set $i (i64.add (local.get $i) (i64.const 1)))))
      (br_if $next (i64.lt_u (local.get $i) (call $input_length))))
    (local.get $block))

  (func $say (param $block i64) (result i32)
    (call $output_set (local.get $block) (call $length (local.get $block)))
    (i32.const 0))

  ;; The bytes of a block from the last to the first, so that nobody knows again what stands in it.
  (func $turned (param $from i64) (result i64) (local $block i64) (local $i i64) (local $size i64)
    (local.set $size (call $length (local.get $from)))
    (local.set $block (call $alloc (local.get $size)))
    (block $done (loop $next
      (br_if $done (i64.ge_u (local.get $i) (local.get $size)))
      (call $store (i64.add (local.get $block) (local.get $i))
        (call $load (i64.sub (i64.add (local.get $from) (local.get $size)) (i64.add (local.get $i) (i64.const 1)))))
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br $next)))
    (local.get $block))

  (func (export "ask") (result i32) (call $say (call $hotcell_call (call $filled))))
  (func (export "http") (result i32) (call $say (call $http_request (call $filled) (i64.const 0))))
  (func (export "ask_turned") (result i32) (call $say (call $turned (call $hotcell_call (call $filled)))))
  (func (export "http_turned") (result i32) (call $say (call $turned (call $http_request (call $filled) (i64.const 0)))))
  ;; The name is what stands between {"name":" and "}.
  (func (export "setting") (result i32) (local $block i64) (local $i i64) (local $size i64) (local $value i64)
    (local.set $size (i64.sub (call $input_length) (i64.const 11)))
    (local.set $block (call $alloc (local.get $size)))
    (loop $next
      (call $store (i64.add (local.get $block) (local.get $i)) (call $input (i64.add (local.get $i) (i64.const 9))))
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br_if $next (i64.lt_u (local.get $i) (local.get $size))))
    (local.set $value (call $config_get (local.get $block)))
    (if (i64.eqz (local.get $value)) (then (return (i32.const 0))))
    (call $say (local.get $value))))`);
}

/** The manifest beside the module. */
export function probeManifest(name: string): string {
  const tools = Object.fromEntries(
    probeTools.map((tool) => [`${name}_${tool}`, { description: 'Does what it is told.', export: tool }]),
  );
  return JSON.stringify({ name, permissions: { env: ['HEADER_KEY', 'PLAIN_SETTING'] }, tools });
}
