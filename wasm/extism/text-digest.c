/*
 * text_digest: an Extism plugin in plain C, without a library. The input is JSON such as {"text":"hello"}; the output is
 * {"bytes":5,"crc32":"3610a686","adler32":"062c0215","fnv1a":"4f9f2cab"} over the UTF-8 bytes of "text".
 * scripts/build-wasm.ts compiles it with clang.
 */
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#define HOST(name) __attribute__((import_module("extism:host/env"), import_name(name))) extern
#define EXPORT(name) __attribute__((export_name(name)))

HOST("input_length") u64 input_length(void);
HOST("input_load_u8") u32 input_load_u8(u64 offset);
HOST("alloc") u64 host_alloc(u64 size);
HOST("store_u8") void host_store_u8(u64 address, u32 byte);
HOST("output_set") void output_set(u64 address, u64 size);
HOST("error_set") void error_set(u64 address);

static u64 at, end;
static u32 bytes, crc, adler_a, adler_b, fnv;

static void take(u8 byte) {
  crc ^= byte;
  for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1)));
  adler_a = (adler_a + byte) % 65521;
  adler_b = (adler_b + adler_a) % 65521;
  fnv = (fnv ^ byte) * 16777619u;
  bytes++;
}

/* A code point as UTF-8. */
static void take_point(u32 point) {
  if (point < 0x80) return take(point);
  if (point < 0x800) return take(0xc0 | point >> 6), take(0x80 | (point & 63));
  if (point < 0x10000) return take(0xe0 | point >> 12), take(0x80 | (point >> 6 & 63)), take(0x80 | (point & 63));
  take(0xf0 | point >> 18), take(0x80 | (point >> 12 & 63)), take(0x80 | (point >> 6 & 63)), take(0x80 | (point & 63));
}

static u8 next(void) { return at < end ? input_load_u8(at++) : 0; }

static u32 hex4(void) {
  u32 value = 0;
  for (int digit = 0; digit < 4; digit++) {
    u8 c = next();
    value = value << 4 | (c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  }
  return value;
}

/* \uXXXX, and a pair of them for what lies beyond the basic plane; half a pair is U+FFFD. */
static void take_escape(u8 c) {
  if (c == 'n') return take('\n');
  if (c == 't') return take('\t');
  if (c == 'r') return take('\r');
  if (c == 'b') return take('\b');
  if (c == 'f') return take('\f');
  if (c != 'u') return take(c);
  u32 high = hex4();
  if (high < 0xd800 || high > 0xdfff) return take_point(high);
  if (high > 0xdbff || at + 1 >= end || input_load_u8(at) != '\\' || input_load_u8(at + 1) != 'u') return take_point(0xfffd);
  u64 back = at;
  at += 2;
  u32 low = hex4();
  if (low >= 0xdc00 && low <= 0xdfff) return take_point(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
  at = back;
  take_point(0xfffd);
}

/* The daemon has checked the arguments: the first string after a colon is the text. */
static int digest_text(void) {
  while (at < end && next() != ':') {}
  while (at < end && input_load_u8(at) <= ' ') at++;
  if (next() != '"') return 0;
  while (at < end) {
    u8 c = next();
    if (c == '"') return 1;
    if (c == '\\') take_escape(next());
    else take(c);
  }
  return 0;
}

static u64 out, used;

static void put(const char *text) {
  while (*text) host_store_u8(out + used++, (u8)*text++);
}

static void put_hex(u32 value) {
  for (int shift = 28; shift >= 0; shift -= 4) host_store_u8(out + used++, "0123456789abcdef"[value >> shift & 15]);
}

static void put_number(u32 value) {
  if (value >= 10) put_number(value / 10);
  host_store_u8(out + used++, '0' + value % 10);
}

EXPORT("text_digest") int text_digest(void) {
  at = 0, end = input_length(), used = 0;
  bytes = 0, crc = 0xffffffffu, adler_a = 1, adler_b = 0, fnv = 2166136261u;
  int found = digest_text();
  out = host_alloc(128);
  if (!found) {
    put("expected {\"text\": \"...\"}");
    for (u64 rest = used; rest < 128; rest++) host_store_u8(out + rest, ' ');
    error_set(out);
    return 1;
  }
  put("{\"bytes\":"), put_number(bytes);
  put(",\"crc32\":\""), put_hex(~crc);
  put("\",\"adler32\":\""), put_hex(adler_b << 16 | adler_a);
  put("\",\"fnv1a\":\""), put_hex(fnv), put("\"}");
  output_set(out, used);
  return 0;
}
