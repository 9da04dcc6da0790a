/**
 * Parts whose code is large: it stays text in the image until it is first needed, unless the build sees that a plugin is
 * likely to need it and loads it before the memory is frozen.
 */
export type PartAnswer = (payload: string, body: Uint8Array) => string | ArrayBuffer | undefined;

/** The part behind each operation. */
const partByOperation: Readonly<Record<string, string>> = {
  'url.parse': 'url',
  'url.set': 'url',
  'query.parse': 'url',
  'query.write': 'url',
  'crypto.digest': 'digests',
  'crypto.hmac': 'digests',
};

const makeFunction = Function;
// A part that looked for the platform's own URL would find the one that asks this part.
const hiddenNames = ['URL', 'URLSearchParams'];
const shadow: unknown = Object.create(globalThis, Object.fromEntries(hiddenNames.map((name) => [name, { value: undefined }])));
const loaded: Record<string, Readonly<Record<string, PartAnswer>>> = {};
let texts: Readonly<Record<string, string>> = {};

/** Takes the texts of all parts by name; each defines `part` with `answers`. */
export function provideParts(given: Readonly<Record<string, string>>): void {
  texts = given;
}

/** Evaluates a part, once. */
export function loadPart(name: string): Readonly<Record<string, PartAnswer>> {
  const present = loaded[name];
  if (present) return present;
  const evaluate = makeFunction('globalThis', 'self', ...hiddenNames, `${texts[name]}\nreturn part.answers`);
  const answers: Readonly<Record<string, PartAnswer>> = evaluate(shadow, shadow);
  loaded[name] = answers;
  return answers;
}

/** What answers an operation of a part. */
export function findPartAnswer(op: string): PartAnswer | undefined {
  const part = Object.hasOwn(partByOperation, op) ? partByOperation[op] : undefined;
  return part === undefined ? undefined : loadPart(part)[op];
}
