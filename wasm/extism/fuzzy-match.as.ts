// fuzzy_match: an Extism plugin in AssemblyScript that describes itself (exports describe and call), so it needs no manifest
// beside it. scripts/build-wasm.ts compiles it.

// @ts-nocheck: AssemblyScript has types of its own.
@external("extism:host/env", "input_length") declare function inputLength(): u64;
@external("extism:host/env", "input_load_u8") declare function inputByte(offset: u64): u32;
@external("extism:host/env", "alloc") declare function hostAlloc(size: u64): u64;
@external("extism:host/env", "store_u8") declare function storeByte(address: u64, byte: u32): void;
@external("extism:host/env", "output_set") declare function outputSet(address: u64, size: u64): void;

const description = `{"tools":[{"name":"fuzzy_match",
"description":"Finds which candidates are spelled most like a query (edit distance, case ignored). Use for typing errors in names.",
"inputSchema":{"type":"object","properties":{
"query":{"type":"string","description":"What was typed"},
"candidates":{"type":"array","items":{"type":"string"},"maxItems":1000,"description":"What may have been meant"},
"limit":{"type":"integer","minimum":1,"maximum":100,"default":3}},
"required":["query","candidates"],"additionalProperties":false},
"outputSchema":{"type":"object","properties":{"matches":{"type":"array","items":{"type":"object",
"properties":{"candidate":{"type":"string"},"distance":{"type":"integer"}},"required":["candidate","distance"]}}},"required":["matches"]},
"examples":[{"args":{"query":"Recieve","candidates":["relieve","receive","retrieve"],"limit":2},
"expect":{"matches":[{"candidate":"relieve","distance":1},{"candidate":"receive","distance":2}]}}]}]}`;

let text = "";
let at = 0;

export function describe(): i32 {
  write(description);
  return 0;
}

export function call(): i32 {
  const bytes = new Uint8Array(<i32>inputLength());
  for (let i = 0; i < bytes.length; i++) bytes[i] = <u8>inputByte(i);
  text = String.UTF8.decode(bytes.buffer);
  at = text.indexOf('"arguments"');
  let query = "";
  let limit = 3;
  const candidates = new Array<string>();
  at = text.indexOf("{", at) + 1;
  while (peek() == 34) {
    const key = readString();
    skip();
    if (key == "query") query = readString();
    else if (key == "limit") limit = readNumber();
    else readList(candidates);
    if (peek() == 44) at++;
  }
  write(answer(query, candidates, limit));
  return 0;
}

class Match {
  constructor(public candidate: string, public distance: i32) {}
}

function answer(query: string, candidates: Array<string>, limit: i32): string {
  const matches = candidates.map<Match>((candidate) => new Match(candidate, 0));
  for (let i = 0; i < matches.length; i++) matches[i].distance = measure(query.toLowerCase(), matches[i].candidate.toLowerCase());
  matches.sort((a, b) => a.distance - b.distance);
  let list = "";
  for (let i = 0; i < min(limit, matches.length); i++) {
    if (i > 0) list += ",";
    list += '{"candidate":' + quote(matches[i].candidate) + ',"distance":' + matches[i].distance.toString() + "}";
  }
  return '{"content":[{"type":"text","text":' + quote('{"matches":[' + list + "]}") + "}]}";
}

/** Levenshtein's distance, a row at a time. */
function measure(a: string, b: string): i32 {
  let row = new Int32Array(b.length + 1);
  for (let j = 0; j <= b.length; j++) row[j] = j;
  for (let i = 1; i <= a.length; i++) {
    let diagonal = row[0];
    row[0] = i;
    for (let j = 1; j <= b.length; j++) {
      const above = row[j];
      const same = a.charCodeAt(i - 1) == b.charCodeAt(j - 1) ? 0 : 1;
      row[j] = min(min(above, row[j - 1]) + 1, diagonal + same);
      diagonal = above;
    }
  }
  return row[b.length];
}

/** The next character that is not blank or a colon. */
function peek(): i32 {
  skip();
  return at < text.length ? text.charCodeAt(at) : 0;
}

function skip(): void {
  while (at < text.length && (text.charCodeAt(at) <= 32 || text.charCodeAt(at) == 58)) at++;
}

function readNumber(): i32 {
  let value = 0;
  skip();
  while (at < text.length && text.charCodeAt(at) >= 48 && text.charCodeAt(at) <= 57) value = value * 10 + text.charCodeAt(at++) - 48;
  return value;
}

function readList(into: Array<string>): void {
  if (peek() != 91) return;
  at++;
  while (peek() == 34) {
    into.push(readString());
    if (peek() == 44) at++;
  }
  at++;
}

/** The daemon has checked the arguments, so this is well-formed JSON. */
function readString(): string {
  skip();
  at++;
  let value = "";
  while (at < text.length) {
    const c = text.charCodeAt(at++);
    if (c == 34) break;
    value += c == 92 ? readEscape() : String.fromCharCode(c);
  }
  return value;
}

function readEscape(): string {
  const c = text.charCodeAt(at++);
  if (c == 110) return "\n";
  if (c == 116) return "\t";
  if (c == 114) return "\r";
  if (c == 98) return "\b";
  if (c == 102) return "\f";
  if (c != 117) return String.fromCharCode(c);
  const unit = <i32>parseInt(text.substr(at, 4), 16);
  at += 4;
  return String.fromCharCode(unit);
}

function quote(value: string): string {
  let quoted = '"';
  for (let i = 0; i < value.length; i++) {
    const c = value.charCodeAt(i);
    if (c == 34 || c == 92) quoted += "\\" + String.fromCharCode(c);
    else if (c < 32) quoted += "\\u" + c.toString(16).padStart(4, "0");
    else quoted += String.fromCharCode(c);
  }
  return quoted + '"';
}

function write(output: string): void {
  const bytes = Uint8Array.wrap(String.UTF8.encode(output));
  const block = hostAlloc(bytes.length);
  for (let i = 0; i < bytes.length; i++) storeByte(block + i, bytes[i]);
  outputSet(block, bytes.length);
}
