import type { ToolManifest } from '../../units/tool-manifest.ts';
import { splitWords } from '../words.ts';

/** What a model is asked, as far as the choice of tools goes. */
export interface SelectionContext {
  readonly text: string;
  /** Why the request is made, where nobody waits for it: such as `nightly report`. */
  readonly background?: string | undefined;
  /** Whose model it is: openai, anthropic, gemini. */
  readonly provider?: string | undefined;
}

/** A request, read once for all tools that are scored against it. */
export interface ReadContext {
  readonly text: string;
  /** All words of it, and those that count. */
  readonly allWords: ReadonlySet<string>;
  readonly words: ReadonlySet<string>;
  /** Whether a tag stands in the text: many tools have the same. */
  readonly hasTag: (tag: string) => boolean;
  readonly backgroundWords: ReadonlySet<string>;
  readonly provider: string | undefined;
}

/** Why a tool got points. */
export type Signal = 'name' | 'name-word' | 'tag' | 'description-word' | 'background-name' | 'background-tag' | 'provider';

/** Points for one signal, and what of the tool or the request was found. */
export interface SelectionPoints {
  readonly signal: Signal;
  readonly points: number;
  readonly found: readonly string[];
}

/** What a tool is scored by. */
export type ScoredText = Pick<ToolManifest, 'name' | 'description' | 'tags'>;

/** Points for each thing that is found; those for a provider are taken away when a tool is for others. */
export const signalPoints: Readonly<Record<Signal, number>> = {
  name: 6,
  'name-word': 2,
  tag: 3,
  'description-word': 1,
  'background-name': 2,
  'background-tag': 2,
  provider: 2,
};

/** The end of a conversation says what is wanted now. */
const maxContextChars = 8000;
const maxDescriptionChars = 4000;
const maxTags = 100;
const providers: ReadonlySet<string> = new Set(['openai', 'anthropic', 'gemini', 'google']);
const providerTag = 'provider:';

// Words that stand in every text, and say nothing of it.
const stopWords: ReadonlySet<string> = new Set(
  'an and are as at be by can do does for from has have how if in into is it its me my no not of on or our so that the their them then there these they this to up us use used uses using want was we what when where which who will with would you your'.split(
    ' ',
  ),
);

/** The words that count, each once: of two characters and more, without those that every text has. */
export function countedWords(text: string): ReadonlySet<string> {
  return new Set(splitWords(text).filter((word) => word.length > 1 && !stopWords.has(word)));
}

/** Reads a request for all tools that are scored against it. */
export function readContext({ text, background = '', provider }: SelectionContext): ReadContext {
  const last = text.slice(-maxContextChars);
  const normal = normalize(last);
  const tags = new Map<string, boolean>();
  return {
    text: normal,
    allWords: new Set(splitWords(last)),
    words: countedWords(last),
    hasTag(tag) {
      const found = tags.get(tag) ?? normal.includes(tag);
      tags.set(tag, found);
      return found;
    },
    backgroundWords: countedWords(background.slice(-maxContextChars)),
    provider: provider === undefined ? undefined : normalize(provider),
  };
}

/** Scores one tool against a request: the points that it gets, by signal. */
export function scoreTool(tool: ScoredText, context: ReadContext): readonly SelectionPoints[] {
  const { name, writtenWords, nameWords, tags, tagWords, descriptionWords, hints } = readTool(tool);
  const points: SelectionPoints[] = [];
  const add = (signal: Signal, found: readonly string[]): void => {
    if (found.length > 0) points.push({ signal, points: signalPoints[signal] * found.length, found });
  };
  const inText = (word: string) => context.words.has(word);
  const inBackground = (word: string) => context.backgroundWords.has(word);
  add('name', mayStand(context, writtenWords) && standsAlone(context.text, name) ? [tool.name] : []);
  add('name-word', nameWords.filter(inText));
  add('tag', tags.filter(context.hasTag));
  add('description-word', descriptionWords.filter(inText));
  add('background-name', nameWords.filter(inBackground));
  add('background-tag', tagWords.filter(inBackground));
  const { provider } = context;
  if (provider === undefined || hints.length === 0) return points;
  const isMeant = hints.includes(provider);
  return [...points, { signal: 'provider', points: isMeant ? signalPoints.provider : -signalPoints.provider, found: hints }];
}

interface ReadTool {
  readonly name: string;
  /** All words of the name, read as a text has them: as it is written, and in lower case. */
  readonly writtenWords: readonly (readonly string[])[];
  readonly nameWords: readonly string[];
  readonly tags: readonly string[];
  readonly tagWords: readonly string[];
  readonly descriptionWords: readonly string[];
  /** Providers for whose models it is. */
  readonly hints: readonly string[];
}

const known = new WeakMap<ScoredText, ReadTool>();

/** The words of a tool, read once: a generation is an object of its own. */
function readTool(tool: ScoredText): ReadTool {
  const read = known.get(tool) ?? readWords(tool);
  known.set(tool, read);
  return read;
}

function readWords({ name, description, tags }: ScoredText): ReadTool {
  const written = [...new Set(tags.slice(0, maxTags).map(normalize))].filter((tag) => tag.length > 1);
  const isHint = (tag: string): boolean => tag.startsWith(providerTag) || providers.has(tag);
  const said = written.filter((tag) => !isHint(tag));
  return {
    name: normalize(name),
    writtenWords: [splitWords(name), splitWords(normalize(name))],
    nameWords: [...countedWords(name)],
    tags: said,
    tagWords: [...countedWords(said.join(' '))],
    descriptionWords: [...countedWords(description.slice(0, maxDescriptionChars))],
    hints: written.filter(isHint).map((tag) => (tag.startsWith(providerTag) ? tag.slice(providerTag.length) : tag)),
  };
}

function normalize(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** A name stands nowhere where its words do not: thousands of names are not looked for. */
function mayStand({ allWords }: ReadContext, writtenWords: ReadTool['writtenWords']): boolean {
  return writtenWords.some((words) => words.every((word) => allWords.has(word)));
}

const partOfWord = /[\p{L}\p{M}\p{N}_]/u;

/** Whether a name stands in a text as it is, and not as a part of another word. */
function standsAlone(text: string, name: string): boolean {
  if (name === '') return false;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const before = text.slice(0, at).at(-1) ?? ' ';
    const after = text.charAt(at + name.length);
    if (!partOfWord.test(before) && !partOfWord.test(after)) return true;
  }
  return false;
}
