import fc from 'fast-check';

const seed = Number(process.env.HOTCELL_FUZZ_SEED ?? Date.now() % 2 ** 31);

/** How often a property is tried (HOTCELL_FUZZ_RUNS, such as 100000) and with which seed; a failure names both again. */
export function fuzzParameters(usualRuns: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: Number(process.env.HOTCELL_FUZZ_RUNS ?? usualRuns), seed };
}

/** Time for a property that runs longer than usual, in ms. */
export function fuzzTimeoutMs(): number {
  return 60_000 + Number(process.env.HOTCELL_FUZZ_RUNS ?? 0) * 20;
}

/** The name of a fuzz test, with the seed that repeats it. */
export function seeded(behaviour: string): string {
  return `${behaviour} (HOTCELL_FUZZ_SEED=${seed})`;
}

/** Words that mean something somewhere. */
export const telling = fc.constantFrom(
  '__proto__',
  'constructor',
  'toString',
  'prototype',
  '',
  '@',
  'a@^1',
  '../..',
  '%00',
  '%2e%2e%2f',
  '\u0000',
  '\ud800',
  '\u202e',
  'NaN',
  '1e999',
  '-0',
  '$function',
  '~standard',
);

/** Text of any kind. */
export const anyText = fc.oneof(telling, fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 20 }));

/** Any JSON value, with keys that mean something. */
export const anyJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(null, true, false, 0, -1, 1e308, 2 ** 53, [], {}, { $function: true }),
    anyText,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(telling, fc.string({ maxLength: 8 })), tie('value'), { maxKeys: 5 }),
  ),
})).value;

/** Objects whose keys are often those of a schema, and whose values are often wrong. */
export function nearlyRight(
  keys: readonly string[],
  right: Readonly<Record<string, fc.Arbitrary<unknown>>> = {},
): fc.Arbitrary<object> {
  const members = keys.map((key) => fc.tuple(fc.constant(key), fc.oneof(right[key] ?? anyJson, anyJson)));
  const member = fc.oneof(...members, fc.tuple(anyText, anyJson));
  return fc.array(member, { maxLength: 8 }).map((entries) => Object.fromEntries(entries));
}
