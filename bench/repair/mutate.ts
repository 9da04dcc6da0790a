import type { PluginTexts } from './workbench.ts';

/** A plugin with one thing broken. */
export interface Mutant {
  readonly kind: string;
  readonly files: PluginTexts;
}

/** Random numbers that are the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

type Pick = <Item>(items: readonly Item[]) => Item | undefined;
type Mutation = (text: string, pick: Pick, random: () => number) => string | undefined;

/** What breaks in the hands of people and models. */
const mutations: Readonly<Record<string, Mutation>> = {
  'drop-token': (text, pick) => cut(text, pick(placesOf(text, /=>|\?\?|&&|\|\||[=!<>]=+|[{}()[\],:;.=+<>?]/g))),
  'drop-closer': (text, pick) => cut(text, pick(placesOf(text, /[})\]]/g))),
  'add-closer': (text, pick) => put(text, pick(placesOf(text, /[})\]]/g)), (found) => found + found),
  'drop-closing-line': (text, pick) => cut(text, pick(placesOf(text, /^[ ]*[})\]]+[;,]*\n/gm))),
  'drop-comma': (text, pick) => cut(text, pick(placesOf(text, /,/g))),
  'drop-quote': (text, pick) => cut(text, pick(placesOf(text, /['"`]/g))),
  'misspell-name': (text, pick, random) =>
    put(text, pick(placesOf(text, /(?<=[\s(.!{[])[a-z][A-Za-z]{4,}(?=[\s(.,;)[}])/g)), (name) => misspell(name, random)),
  'misspell-keyword': (text, pick, random) =>
    put(
      text,
      pick(placesOf(text, /\b(?:const|return|function|export|default|import|async|await|for|while|class|interface)\b/g)),
      (word) => misspell(word, random),
    ),
  'rename-import': (text, pick, random) =>
    put(
      text,
      pick(placesOf(text, /(?<=import [^'\n]*)\b[a-zA-Z]{5,}\b(?=[^'\n]*from)|(?<=from '[./:a-z]*)[a-z]{4,}(?:-[a-z]+)?/g)),
      (name) => misspell(name, random),
    ),
  'misspell-key': (text, pick, random) =>
    put(text, pick(placesOf(text, /(?<=^ {2,6})(?:description|handler|parameters|version|tools|name)(?=:)/gm)), (key) =>
      misspell(key, random),
    ),
  'swap-type': (text, pick) =>
    put(text, pick(placesOf(text, /(?<=: )(?:string|number)(?:\[\])?(?=[;,)} ])/g)), (type) =>
      type.startsWith('string') ? 'number' : 'string',
    ),
  'drop-await': (text, pick) => cut(text, pick(placesOf(text, /\bawait /g))),
  'drop-declaration': (text, pick) => cut(text, pick(placesOf(text, /\b(?:const|let) (?=[a-z]+ =)/g))),
  'let-to-const': (text, pick) => put(text, pick(placesOf(text, /\blet (?=[a-z]+ = )/g)), () => 'const '),
  'twice-the-line': (text, pick) => put(text, pick(placesOf(text, /^.*[;{]\n/gm)), (line) => line + line),
  'drop-export': (text, pick) => cut(text, pick(placesOf(text, /\bexport (?:default )?/g))),
  typographic: (text, pick) => put(text, pick(placesOf(text, /'[^'\n]*'/g)), (found) => `‘${found.slice(1, -1)}’`),
};

/** Mutants of one text of a plugin, one of each kind in turn, as many as are asked for; never twice the same. */
export function* mutate(files: PluginTexts, seed: number): Generator<Mutant> {
  const random = createRandom(seed);
  const pick: Pick = (items) => items[Math.floor(random() * items.length)];
  const seen = new Set<string>();
  for (let round = 0; round < 100; round++) {
    for (const [kind, change] of Object.entries(mutations)) {
      const file = pick(Object.keys(files)) ?? '';
      const text = files[file] ?? '';
      const changed = change(text, pick, random);
      if (changed === undefined || changed === text || seen.has(changed)) continue;
      seen.add(changed);
      yield { kind, files: { ...files, [file]: changed } };
    }
  }
}

interface Place {
  readonly at: number;
  readonly found: string;
}

function placesOf(text: string, pattern: RegExp): Place[] {
  return Array.from(text.matchAll(pattern), ({ 0: found, index }) => ({ at: index, found }));
}

function cut(text: string, place: Place | undefined): string | undefined {
  return put(text, place, () => '');
}

function put(text: string, place: Place | undefined, change: (found: string) => string): string | undefined {
  return place && text.slice(0, place.at) + change(place.found) + text.slice(place.at + place.found.length);
}

/** One letter lost, doubled, or changed for its neighbour. */
function misspell(name: string, random: () => number): string {
  const at = 1 + Math.floor(random() * (name.length - 2));
  const [before, letter = '', next = '', after] = [name.slice(0, at), name[at], name[at + 1], name.slice(at + 2)];
  const way = Math.floor(random() * 3);
  return before + (way === 0 ? next : way === 1 ? letter + letter + next : next + letter) + after;
}
