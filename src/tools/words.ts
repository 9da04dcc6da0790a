// Written without spaces: two neighbours stand for a word.
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const word = /[\p{L}\p{M}\p{N}]+/gu;
const humps = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu;

/**
 * The words of a text in their order: runs of letters and digits in lower case, `getWeather` as two. Of Chinese and Japanese
 * text two neighbouring characters are a word.
 */
export function splitWords(text: string): string[] {
  const runs = text.normalize('NFKC').replace(humps, ' ').toLowerCase().match(word) ?? [];
  return ideographs.test(text) ? runs.flatMap((run) => (ideographs.test(run) ? pairs(run) : [run])) : runs;
}

function pairs(run: string): string[] {
  const characters = [...run];
  if (characters.length < 3) return [run];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

const endings: readonly (readonly [RegExp, string])[] = [
  [/(?<=..)ies$/, 'y'],
  [/(?<=(?:ss|x|ch|sh))es$/, ''],
  [/(?<=[a-z]{2}[^su])s$/, ''],
  [/(?<=[a-z]{3})ing$/, ''],
  [/(?<=[a-z]{3})ed$/, ''],
  [/(?<=[a-z]{3})e$/, ''],
];

/** Tools say the same words over and over. */
const knownStems = new Map<string, string>();
const maxKnownStems = 20_000;
const maxKnownChars = 32;

/** A word without its commonest English ending, so that `weathers`, `converting` and `converted` find `weather` and `convert`. */
export function stemOf(text: string): string {
  const known = knownStems.get(text);
  if (known !== undefined) return known;
  let stem = text;
  for (const [ending, instead] of endings) stem = stem.replace(ending, instead);
  if (text.length > maxKnownChars) return stem;
  if (knownStems.size >= maxKnownStems) knownStems.clear();
  knownStems.set(text, stem);
  return stem;
}
