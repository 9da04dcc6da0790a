;; ---- texts and bytes, from and to the host's blocks

;; The UTF-8 of a JavaScript value as a block; 0 for undefined and for what has no text.
(func $text_block (param $value i32) (result i64)
  (local $bytes i32)
  (local $block i64)
  (if (i32.eqz (local.get $value)) (then (return (i64.const 0))))
  (if (call $is_undefined (local.get $value)) (then (return (i64.const 0))))
  (global.set $stack (i32.sub (global.get $stack) (i32.const 16)))
  (local.set $bytes (call $string_bytes (local.get $value) (global.get $stack)))
  (if (local.get $bytes)
    (then
      (local.set $block (call $store (local.get $bytes) (i32.load (global.get $stack))))
      (call $free_string_bytes (local.get $bytes))))
  (global.set $stack (i32.add (global.get $stack) (i32.const 16)))
  (local.get $block))

(func $buffer_block (param $value i32) (result i64)
  (local $bytes i32)
  (local $block i64)
  (if (i32.eqz (local.get $value)) (then (return (i64.const 0))))
  (if (call $is_undefined (local.get $value)) (then (return (i64.const 0))))
  (global.set $stack (i32.sub (global.get $stack) (i32.const 16)))
  (local.set $bytes (call $buffer_bytes (local.get $value) (global.get $stack)))
  (if (local.get $bytes)
    (then (local.set $block (call $store (local.get $bytes) (i32.load (global.get $stack))))))
  (global.set $stack (i32.add (global.get $stack) (i32.const 16)))
  (local.get $block))

;; The block stays: some hosts keep a variable in it.
(func $block_text (param $block i64) (result i32)
  (local $bytes i32)
  (local $value i32)
  (if (i64.eqz (local.get $block)) (then (return (call $undefined))))
  (local.set $bytes (call $load (local.get $block)))
  (local.set $value (call $new_string (local.get $bytes) (i32.wrap_i64 (call $length (local.get $block)))))
  (call $release (local.get $bytes))
  (local.get $value))

(func $block_buffer (param $block i64) (result i32)
  (local $bytes i32)
  (local $value i32)
  (if (i64.eqz (local.get $block)) (then (return (call $undefined))))
  (local.set $bytes (call $load (local.get $block)))
  (local.set $value (call $new_buffer (local.get $bytes) (i32.wrap_i64 (call $length (local.get $block)))))
  (call $free_block (local.get $block))
  (call $release (local.get $bytes))
  (local.get $value))

(func $read_input (result i32)
  (local $size i32)
  (local $bytes i32)
  (local $at i32)
  (local $value i32)
  (local.set $size (i32.wrap_i64 (call $input_length)))
  (local.set $bytes (call $reserve (local.get $size)))
  (block $words
    (loop $word
      (br_if $words (i32.gt_u (i32.add (local.get $at) (i32.const 8)) (local.get $size)))
      (i64.store
        (i32.add (local.get $bytes) (local.get $at))
        (call $input_load_u64 (i64.extend_i32_u (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br $word)))
  (block $done
    (loop $rest
      (br_if $done (i32.ge_u (local.get $at) (local.get $size)))
      (i32.store8
        (i32.add (local.get $bytes) (local.get $at))
        (call $input_load_u8 (i64.extend_i32_u (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $rest)))
  (local.set $value (call $new_string (local.get $bytes) (local.get $size)))
  (call $release (local.get $bytes))
  (local.get $value))

(func $send_output (param $text i32)
  (local $block i64)
  (local.set $block (call $text_block (local.get $text)))
  (call $output_set (local.get $block) (call $length (local.get $block))))

(func $write_log (param $level i32) (param $block i64)
  (block $debug
    (block $info
      (block $warn
        (block $error
          (br_table $debug $info $warn $error (local.get $level)))
        (return (call $log_error (local.get $block))))
      (return (call $log_warn (local.get $block))))
    (return (call $log_info (local.get $block))))
  (call $log_debug (local.get $block)))

(func $draw_random (param $size i32) (result i32)
  (local $bytes i32)
  (local $value i32)
  (local.set $bytes (call $reserve (local.get $size)))
  (if (call $random_get (local.get $bytes) (local.get $size)) (then (unreachable)))
  (local.set $value (call $new_buffer (local.get $bytes) (local.get $size)))
  (call $release (local.get $bytes))
  (local.get $value))

;; The bytes of a text without going over the host: what TextEncoder and TextDecoder stand on.
(func $encode_text (param $text i32) (result i32)
  (local $bytes i32)
  (local $value i32)
  (global.set $stack (i32.sub (global.get $stack) (i32.const 16)))
  (local.set $bytes (call $string_bytes (local.get $text) (global.get $stack)))
  (if (i32.eqz (local.get $bytes)) (then (unreachable)))
  (local.set $value (call $new_buffer (local.get $bytes) (i32.load (global.get $stack))))
  (call $free_string_bytes (local.get $bytes))
  (global.set $stack (i32.add (global.get $stack) (i32.const 16)))
  (local.get $value))

(func $decode_bytes (param $buffer i32) (result i32)
  (local $bytes i32)
  (local $value i32)
  (global.set $stack (i32.sub (global.get $stack) (i32.const 16)))
  (local.set $bytes (call $buffer_bytes (local.get $buffer) (global.get $stack)))
  (local.set $value (call $new_string (local.get $bytes) (i32.load (global.get $stack))))
  (global.set $stack (i32.add (global.get $stack) (i32.const 16)))
  (local.get $value))

;; Copies a block into memory of its own.
(func $load (param $block i64) (result i32)
  (local $size i32)
  (local $bytes i32)
  (local $at i32)
  (local.set $size (i32.wrap_i64 (call $length (local.get $block))))
  (local.set $bytes (call $reserve (local.get $size)))
  (block $words
    (loop $word
      (br_if $words (i32.gt_u (i32.add (local.get $at) (i32.const 8)) (local.get $size)))
      (i64.store
        (i32.add (local.get $bytes) (local.get $at))
        (call $load_u64 (i64.add (local.get $block) (i64.extend_i32_u (local.get $at)))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br $word)))
  (block $done
    (loop $rest
      (br_if $done (i32.ge_u (local.get $at) (local.get $size)))
      (i32.store8
        (i32.add (local.get $bytes) (local.get $at))
        (call $load_u8 (i64.add (local.get $block) (i64.extend_i32_u (local.get $at)))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $rest)))
  (local.get $bytes))

;; Copies bytes into a new block.
(func $store (param $bytes i32) (param $size i32) (result i64)
  (local $block i64)
  (local $at i32)
  (local.set $block (call $alloc (i64.extend_i32_u (local.get $size))))
  (block $words
    (loop $word
      (br_if $words (i32.gt_u (i32.add (local.get $at) (i32.const 8)) (local.get $size)))
      (call $store_u64
        (i64.add (local.get $block) (i64.extend_i32_u (local.get $at)))
        (i64.load (i32.add (local.get $bytes) (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br $word)))
  (block $done
    (loop $rest
      (br_if $done (i32.ge_u (local.get $at) (local.get $size)))
      (call $store_u8
        (i64.add (local.get $block) (i64.extend_i32_u (local.get $at)))
        (i32.load8_u (i32.add (local.get $bytes) (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $rest)))
  (local.get $block))

;; Memory for so many bytes, or the end of the call.
(func $reserve (param $size i32) (result i32)
  (local $bytes i32)
  (local.set $bytes (call $malloc (i32.add (local.get $size) (i32.const 1))))
  (if (i32.eqz (local.get $bytes)) (then (unreachable)))
  (local.get $bytes))

