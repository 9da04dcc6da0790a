;; count_vowels: an Extism plugin without a toolchain. The input is JSON text such as {"text":"hello"}; the output is
;; JSON such as {"vowels":2,"letters":5}, counted over the value of "text". scripts/build-wasm.ts assembles it.
(module
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))

  (memory (export "memory") 1)
  (data (i32.const 0) "{\"vowels\":")
  (data (i32.const 16) ",\"letters\":")
  (data (i32.const 32) "expected {\"text\": \"...\"}")
  ;; The output is put together from here on.
  (global $out (mut i32) (i32.const 1024))

  (func $put (param $byte i32)
    (i32.store8 (global.get $out) (local.get $byte))
    (global.set $out (i32.add (global.get $out) (i32.const 1))))

  (func $put_text (param $from i32) (param $length i32)
    (memory.copy (global.get $out) (local.get $from) (local.get $length))
    (global.set $out (i32.add (global.get $out) (local.get $length))))

  (func $put_number (param $number i32)
    (if (i32.ge_u (local.get $number) (i32.const 10))
      (then (call $put_number (i32.div_u (local.get $number) (i32.const 10)))))
    (call $put (i32.add (i32.const 48) (i32.rem_u (local.get $number) (i32.const 10)))))

  ;; Copies bytes of the module's memory into a block of the host.
  (func $to_block (param $from i32) (param $length i32) (result i64)
    (local $block i64) (local $index i32)
    (local.set $block (call $alloc (i64.extend_i32_u (local.get $length))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $index) (local.get $length)))
        (call $store_u8
          (i64.add (local.get $block) (i64.extend_i32_u (local.get $index)))
          (i32.load8_u (i32.add (local.get $from) (local.get $index))))
        (local.set $index (i32.add (local.get $index) (i32.const 1)))
        (br $next)))
    (local.get $block))

  (func $is_letter (param $lower i32) (result i32)
    (i32.lt_u (i32.sub (local.get $lower) (i32.const 97)) (i32.const 26)))

  (func $is_vowel (param $lower i32) (result i32)
    (i32.or
      (i32.or (i32.eq (local.get $lower) (i32.const 97)) (i32.eq (local.get $lower) (i32.const 101)))
      (i32.or
        (i32.eq (local.get $lower) (i32.const 105))
        (i32.or (i32.eq (local.get $lower) (i32.const 111)) (i32.eq (local.get $lower) (i32.const 117))))))

  ;; Where the text begins: behind the third quotation mark; the length when there are not so many.
  (func $find_text (param $length i64) (result i64)
    (local $at i64) (local $quotes i32)
    (block $done
      (loop $next
        (br_if $done (i64.ge_u (local.get $at) (local.get $length)))
        (br_if $done (i32.eq (local.get $quotes) (i32.const 3)))
        (if (i32.eq (call $input_load_u8 (local.get $at)) (i32.const 34))
          (then (local.set $quotes (i32.add (local.get $quotes) (i32.const 1)))))
        (local.set $at (i64.add (local.get $at) (i64.const 1)))
        (br $next)))
    (if (result i64) (i32.lt_u (local.get $quotes) (i32.const 3))
      (then (local.get $length))
      (else (local.get $at))))

  (func (export "count_vowels") (result i32)
    (local $at i64) (local $length i64) (local $byte i32) (local $lower i32) (local $vowels i32) (local $letters i32)
    (local.set $length (call $input_length))
    (local.set $at (call $find_text (local.get $length)))
    (if (i64.ge_u (local.get $at) (local.get $length))
      (then
        (call $error_set (call $to_block (i32.const 32) (i32.const 24)))
        (return (i32.const 1))))
    (block $done
      (loop $next
        (br_if $done (i64.ge_u (local.get $at) (local.get $length)))
        (local.set $byte (call $input_load_u8 (local.get $at)))
        (br_if $done (i32.eq (local.get $byte) (i32.const 34)))
        ;; A backslash escapes the byte behind it; "n" in "\n" is no letter.
        (if (i32.eq (local.get $byte) (i32.const 92))
          (then
            (local.set $at (i64.add (local.get $at) (i64.const 2)))
            (br $next)))
        (local.set $lower (i32.or (local.get $byte) (i32.const 32)))
        (local.set $letters (i32.add (local.get $letters) (call $is_letter (local.get $lower))))
        (local.set $vowels (i32.add (local.get $vowels) (call $is_vowel (local.get $lower))))
        (local.set $at (i64.add (local.get $at) (i64.const 1)))
        (br $next)))
    (call $put_text (i32.const 0) (i32.const 10))
    (call $put_number (local.get $vowels))
    (call $put_text (i32.const 16) (i32.const 11))
    (call $put_number (local.get $letters))
    (call $put (i32.const 125))
    (call $output_set
      (call $to_block (i32.const 1024) (i32.sub (global.get $out) (i32.const 1024)))
      (i64.extend_i32_u (i32.sub (global.get $out) (i32.const 1024))))
    (i32.const 0)))
