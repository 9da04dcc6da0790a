import { type ByteMatcher, createByteMatcher } from './byte-matcher.ts';
import { listEncodings } from './encodings.ts';
import type { Redactor } from './secret-types.ts';

/** A redactor that can be told of values; what it knows it never forgets. */
export interface LearningRedactor extends Redactor {
  learn(name: string, value: string): void;
}

const nothing = new Uint8Array(0);

/** Makes a redactor that knows nothing yet. */
export function createRedactor(): LearningRedactor {
  const valuesByName = new Map<string, Set<string>>();
  let matcher: ByteMatcher | undefined;

  function redactBytes(value: Uint8Array): Uint8Array {
    return matcher === undefined ? value : replaceAll(matcher, value);
  }

  function redactText(value: string): string {
    // A character takes at most three bytes.
    if (matcher === undefined || value.length * 3 < matcher.shortest) return value;
    const bytes = Buffer.from(value, 'utf8');
    const redacted = redactBytes(bytes);
    return redacted === bytes ? value : Buffer.from(redacted).toString('utf8');
  }

  return {
    get isIdle() {
      return matcher === undefined;
    },
    learn(name, value) {
      const values = valuesByName.get(name) ?? new Set();
      if (values.has(value)) return;
      valuesByName.set(name, values.add(value));
      matcher = createByteMatcher(
        [...valuesByName].flatMap(([label, known]) =>
          [...known].flatMap((each) => listEncodings(each).map((needle) => ({ ...needle, label: `[secret ${label}]` }))),
        ),
      );
    },
    text: redactText,
    json(value) {
      if (redactText(value) === value) return value;
      const parsed = parseJson(value);
      // Replacing inside a JSON text could split an escape: the strings in it are what is redacted.
      return parsed === undefined ? redactText(value) : JSON.stringify(redactValue(parsed.value, redactText));
    },
    bytes: redactBytes,
    stream: () => createStream(() => matcher),
    // What is walked keeps its shape: only strings (and numbers that hold a secret's digits) become strings.
    value: <Value>(value: Value) => (matcher === undefined ? value : (redactValue(value, redactText) as Value)),
  };
}

function replaceAll(matcher: ByteMatcher, bytes: Uint8Array): Uint8Array {
  let match = matcher.find(bytes, 0);
  if (match === undefined) return bytes;
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (; match !== undefined; match = matcher.find(bytes, at)) {
    pieces.push(bytes.subarray(at, match.start), Buffer.from(match.label));
    at = Math.min(match.end, bytes.length);
  }
  pieces.push(bytes.subarray(at));
  return Buffer.concat(pieces);
}

function createStream(matcherNow: () => ByteMatcher | undefined): ReturnType<Redactor['stream']> {
  let held = nothing;
  return {
    push(chunk) {
      const matcher = matcherNow();
      if (matcher === undefined) return chunk;
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const pieces: Uint8Array[] = [];
      let at = 0;
      for (let match = matcher.find(bytes, 0); match !== undefined; match = matcher.find(bytes, at)) {
        // A longer pattern may begin here, or its last neighbour is still to come.
        if (match.end > bytes.length || matcher.findOpenEnd(bytes, at) <= match.start) break;
        pieces.push(bytes.subarray(at, match.start), Buffer.from(match.label));
        at = match.end;
      }
      const open = Math.min(matcher.findOpenEnd(bytes, at), matcher.find(bytes, at)?.start ?? bytes.length);
      pieces.push(bytes.subarray(at, open));
      held = Uint8Array.from(bytes.subarray(open));
      return pieces.length === 1 ? (pieces[0] ?? nothing) : Buffer.concat(pieces);
    },
    end() {
      const matcher = matcherNow();
      const rest = matcher === undefined ? held : replaceAll(matcher, held);
      held = nothing;
      return rest;
    },
  };
}

function redactValue(value: unknown, redact: (text: string) => string): unknown {
  switch (typeof value) {
    case 'string':
      return redact(value);
    case 'number': {
      const redacted = redact(String(value));
      return redacted === String(value) ? value : redacted;
    }
    case 'object':
      if (value === null || value instanceof Uint8Array) return value;
      return Array.isArray(value) ? redactList(value, redact) : redactObject(value, redact);
    default:
      return value;
  }
}

function redactList(list: readonly unknown[], redact: (text: string) => string): readonly unknown[] {
  const redacted = list.map((item) => redactValue(item, redact));
  return redacted.every((item, index) => item === list[index]) ? list : redacted;
}

function redactObject(value: object, redact: (text: string) => string): object {
  let isSame = true;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
    const redacted: [string, unknown] = [redact(key), redactValue(item, redact)];
    if (redacted[0] !== key || redacted[1] !== item) isSame = false;
    return redacted;
  });
  return isSame ? value : Object.fromEntries(entries);
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
