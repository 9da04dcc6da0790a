;; Between QuickJS (merged in under the name "qjs") and an Extism host. QuickJS's own imports are the exports here.
;; Every entry first puts the memory back to what it was when the module was built, so no call sees another one, nothing is
;; ever freed here beyond what a single call needs, and a call that was cut off leaves nothing behind.
(module
  (import "qjs" "memory" (memory 18))
  (import "qjs" "__stack_pointer" (global $stack (mut i32)))
  (import "qjs" "wasm_malloc" (func $malloc (param i32) (result i32)))
  (import "qjs" "wasm_free" (func $release (param i32)))
  (import "qjs" "qjs_call" (func $call_function (param i32 i32 i32 i32) (result i32)))
  (import "qjs" "qjs_new_string" (func $new_string (param i32 i32) (result i32)))
  (import "qjs" "qjs_new_number" (func $new_number (param f64) (result i32)))
  (import "qjs" "qjs_new_array_buffer" (func $new_buffer (param i32 i32) (result i32)))
  (import "qjs" "qjs_get_undefined" (func $undefined (result i32)))
  (import "qjs" "qjs_get_string_len" (func $string_bytes (param i32 i32) (result i32)))
  (import "qjs" "qjs_free_cstring" (func $free_string_bytes (param i32)))
  (import "qjs" "qjs_get_array_buffer" (func $buffer_bytes (param i32 i32) (result i32)))
  (import "qjs" "qjs_get_float64" (func $number_of (param i32) (result f64)))
  (import "qjs" "qjs_is_undefined" (func $is_undefined (param i32) (result i32)))
  (import "qjs" "qjs_is_exception" (func $is_exception (param i32) (result i32)))
  (import "qjs" "qjs_get_exception" (func $take_exception (result i32)))
  (import "qjs" "qjs_is_job_pending" (func $is_job_pending (result i32)))
  (import "qjs" "qjs_execute_pending_job" (func $run_job (result i32)))

  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "free" (func $free_block (param i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
  (import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "extism:host/env" "input_load_u64" (func $input_load_u64 (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
  (import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))
  (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
  (import "extism:host/env" "log_debug" (func $log_debug (param i64)))
  (import "extism:host/env" "log_info" (func $log_info (param i64)))
  (import "extism:host/env" "log_warn" (func $log_warn (param i64)))
  (import "extism:host/env" "log_error" (func $log_error (param i64)))
  (import "extism:host/env" "http_request" (func $http_request (param i64 i64) (result i64)))
  (import "extism:host/env" "http_status_code" (func $http_status_code (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))

  ;; What a build writes: handles of the two JavaScript functions, the pages of memory, the bytes of the image.
  (global $enter (export "state.enter") (mut i32) (i32.const 0))
  (global $leave (export "state.leave") (mut i32) (i32.const 0))
  (global $frozen_pages (export "state.pages") (mut i32) (i32.const 18))
  (global $image_bytes (export "state.bytes") (mut i32) (i32.const 0))
  ;; The pages that QuickJS knows of: a memory cannot shrink, so those that an earlier call added are given out again.
  (global $pages (export "state.known") (mut i32) (i32.const 18))

  ;; A build replaces the marker by the image: everything from the end of the stack on.
  (data $image "hotcell.image")

  ;; ---- what QuickJS imports

  (func (export "memory_pages") (result i32) (global.get $pages))

  (func (export "memory_grow") (param $more i32) (result i32)
    (local $before i32)
    (local $missing i32)
    (local.set $before (global.get $pages))
    (local.set $missing
      (i32.sub (i32.add (local.get $before) (local.get $more)) (memory.size)))
    (if (i32.gt_s (local.get $missing) (i32.const 0))
      (then
        (if (i32.eq (memory.grow (local.get $missing)) (i32.const -1))
          (then (return (i32.const -1))))))
    ;; What an earlier call left in these pages is not for this one.
    (memory.fill
      (i32.shl (local.get $before) (i32.const 16)) (i32.const 0) (i32.shl (local.get $more) (i32.const 16)))
    (global.set $pages (i32.add (local.get $before) (local.get $more)))
    (local.get $before))

  (func (export "host_interrupt") (result i32) (i32.const 0))
  (func (export "host_get_timezone_offset") (param i32 i32) (result i32) (i32.const 0))
  (func (export "host_promise_rejection") (param i32 i32 i32))
  (func (export "host_module_normalize") (param i32 i32) (result i32) (i32.const 0))
  (func (export "host_module_load") (param i32 i32) (result i32) (i32.const 0))

  ;; The one function that JavaScript has: (operation, ...arguments). host-calls.ts names the operations.
  (func (export "host_call")
    (param $name i32) (param $name_bytes i32) (param $this i32) (param $count i32) (param $arguments i32) (result i32)
    (local $first i32)
    (local $second i32)
    (if (i32.gt_s (local.get $count) (i32.const 1))
      (then (local.set $first (i32.load offset=4 (local.get $arguments)))))
    (if (i32.gt_s (local.get $count) (i32.const 2))
      (then (local.set $second (i32.load offset=8 (local.get $arguments)))))
    (block $unknown
    (block $decode
    (block $encode
    (block $random
    (block $http_status
    (block $http
    (block $log
    (block $var_set
    (block $var_get
    (block $config
    (block $fail
    (block $output
    (block $input
      (br_table $input $output $fail $config $var_get $var_set $log $http $http_status $random $encode $decode $unknown
        (i32.trunc_sat_f64_u (call $number_of (i32.load (local.get $arguments))))))
    (return (call $read_input)))
    (call $send_output (local.get $first))
    (return (call $undefined)))
    (call $error_set (call $text_block (local.get $first)))
    (return (call $undefined)))
    (return (call $block_text (call $config_get (call $text_block (local.get $first))))))
    (return (call $block_text (call $var_get (call $text_block (local.get $first))))))
    (call $var_set (call $text_block (local.get $first)) (call $text_block (local.get $second)))
    (return (call $undefined)))
    (call $write_log (i32.trunc_sat_f64_u (call $number_of (local.get $first))) (call $text_block (local.get $second)))
    (return (call $undefined)))
    (return
      (call $block_buffer
        (call $http_request (call $text_block (local.get $first)) (call $buffer_block (local.get $second))))))
    (return (call $new_number (f64.convert_i32_s (call $http_status_code)))))
    (return (call $draw_random (i32.trunc_sat_f64_u (call $number_of (local.get $first))))))
    (return (call $encode_text (local.get $first))))
    (return (call $decode_bytes (local.get $first))))
    (call $undefined))

  ;; ---- entries

  ;; Runs one call: 0 when it wrote an output, 1 when it wrote an error.
  (func $run (param $index i32) (result i32)
    (local $result i32)
    (local $state i32)
    (local $arguments i32)
    (call $restore)
    (local.set $arguments (call $malloc (i32.const 4)))
    (i32.store (local.get $arguments) (call $new_number (f64.convert_i32_u (local.get $index))))
    (local.set $result
      (call $call_function (global.get $enter) (call $undefined) (i32.const 1) (local.get $arguments)))
    (loop $again
      (if (call $is_exception (local.get $result)) (then (return (call $report_exception))))
      (block $drained
        (loop $jobs
          (br_if $drained (i32.eqz (call $is_job_pending)))
          (if (i32.lt_s (call $run_job) (i32.const 0)) (then (drop (call $take_exception))))
          (br $jobs)))
      ;; 0 and 1 are the end; 2 means that a timer was due and more is to be done.
      (local.set $result
        (call $call_function (global.get $leave) (call $undefined) (i32.const 0) (i32.const 0)))
      (if (call $is_exception (local.get $result)) (then (return (call $report_exception))))
      (local.set $state (i32.trunc_sat_f64_u (call $number_of (local.get $result))))
      (br_if $again (i32.gt_u (local.get $state) (i32.const 1))))
    (local.get $state))

  (func $restore
    (global.set $stack (i32.const 1048576))
    (global.set $pages (global.get $frozen_pages))
    (memory.init $image (i32.const 1048576) (i32.const 0) (global.get $image_bytes))
    (memory.fill
      (i32.add (i32.const 1048576) (global.get $image_bytes))
      (i32.const 0)
      (i32.sub
        (i32.shl (global.get $frozen_pages) (i32.const 16))
        (i32.add (i32.const 1048576) (global.get $image_bytes)))))

  ;; What not even JavaScript could report: no memory or no stack was left.
  (func $report_exception (result i32)
    (call $error_set (call $text_block (call $take_exception)))
    (i32.const 1))

  ;; Here follow blocks.wat and one exported entry for describe, call and each tool.
  ;; REST
)
