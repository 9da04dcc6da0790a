import { setImmediate } from 'node:timers/promises';
import { findNearNames } from '../../errors/near-names.ts';
import type { ToolManifest } from '../../units/tool-manifest.ts';
import type { ToolEntry } from '../tool-types.ts';
import { splitWords, stemOf } from '../words.ts';
import { readToolText } from './tool-text.ts';

/** What a query finds. */
export interface FoundTools {
  /** Best first. */
  readonly tools: readonly ToolEntry[];
  /** How many there are, these included. */
  readonly total: number;
}

/** Where a stem stands, and how much it counts there. */
interface Posting {
  readonly ids: number[];
  readonly weights: number[];
}

interface Hit {
  readonly entry: ToolEntry;
  readonly score: number;
}

const maxQueryChars = 1000;
const maxQueryWords = 32;
const minPrefix = 3;
/** The daemon does other things in between. */
const readAtOnce = 100;

// How soon more of the same counts less, and how much a long text counts against a tool (Robertson and Zaragoza 2009: BM25).
const saturation = 1.2;
const lengthShare = 0.6;

/** The words of all tools, read when they are first searched. */
export type SearchIndex = ReturnType<typeof createSearchIndex>;

/** Creates an empty index. */
export function createSearchIndex() {
  const idByManifest = new Map<ToolManifest, number>();
  const postings = new Map<string, Posting>();
  let lengths: number[] = [];
  let indexed: readonly ToolEntry[] = [];

  function add(manifest: ToolManifest): void {
    if (idByManifest.has(manifest)) return;
    const id = lengths.length;
    const { weights, length } = readToolText(manifest);
    idByManifest.set(manifest, id);
    lengths.push(length);
    for (const [stem, weight] of weights) {
      const posting = postings.get(stem) ?? { ids: [], weights: [] };
      postings.set(stem, posting);
      posting.ids.push(id);
      posting.weights.push(weight);
    }
  }

  /** Tools that went are passed over until they are more than those that are there; then their words go, and nothing is read anew. */
  function forget(all: readonly ToolEntry[]): void {
    if (lengths.length <= 2 * all.length + readAtOnce) return;
    const there = new Set(all.map(textOf));
    const before = lengths;
    const newIds = new Map<number, number>();
    lengths = [];
    for (const [manifest, id] of idByManifest) {
      if (there.has(manifest)) newIds.set(id, lengths.push(before[id] ?? 0) - 1);
      else idByManifest.delete(manifest);
    }
    for (const [manifest, id] of idByManifest) idByManifest.set(manifest, newIds.get(id) ?? 0);
    for (const [stem, { ids, weights }] of postings) {
      const kept: Posting = { ids: [], weights: [] };
      for (let at = 0; at < ids.length; at++) {
        const id = newIds.get(ids[at] ?? -1);
        if (id === undefined) continue;
        kept.ids.push(id);
        kept.weights.push(weights[at] ?? 0);
      }
      if (kept.ids.length === 0) postings.delete(stem);
      else postings.set(stem, kept);
    }
  }

  async function read(all: readonly ToolEntry[]): Promise<void> {
    if (all === indexed) return;
    forget(all);
    const fresh = all.map(textOf).filter((manifest) => !idByManifest.has(manifest));
    for (const [index, manifest] of fresh.entries()) {
      if (index > 0 && index % readAtOnce === 0) await setImmediate();
      add(manifest);
    }
    indexed = all;
  }

  /** Where a stem stands; where none of the tools has it, where the words stand that begin with it. */
  function find(stem: string, isSeen: Uint8Array): Posting[] {
    const exact = postings.get(stem);
    if (stem.length < minPrefix || exact?.ids.some((id) => isSeen[id] === 1)) return exact === undefined ? [] : [exact];
    return [...postings].filter(([word]) => word.startsWith(stem)).map(([, posting]) => posting);
  }

  function scoreAll(stems: readonly string[], isSeen: Uint8Array, seen: { readonly count: number; readonly meanLength: number }) {
    const scores = new Float64Array(lengths.length);
    for (const stem of stems) {
      const found = find(stem, isSeen);
      let having = 0;
      for (const { ids } of found) for (const id of ids) having += isSeen[id] ?? 0;
      const rarity = Math.log(1 + Math.max(0, seen.count - having + 0.5) / (having + 0.5));
      for (const { ids, weights } of found) {
        // Thousands of them for a word that all tools have: no iterator.
        for (let at = 0; at < ids.length; at++) {
          const id = ids[at] ?? 0;
          const weight = weights[at] ?? 0;
          const norm = saturation * (1 - lengthShare + (lengthShare * (lengths[id] ?? 0)) / seen.meanLength);
          scores[id] = (scores[id] ?? 0) + (rarity * weight * (saturation + 1)) / (weight + norm);
        }
      }
    }
    return scores;
  }

  return {
    /**
     * The tools among `seen` that a query finds (BM25 over stems, equals by name): other tools count nowhere. A tool whose name is
     * the query comes first. What nobody wrote as it stands is taken as the beginning of a word, and at last as a misspelled name.
     */
    async search(
      all: readonly ToolEntry[],
      { text, limit, seen }: { readonly text: string; readonly limit: number; readonly seen: readonly ToolEntry[] },
    ): Promise<FoundTools> {
      await read(all);
      const wanted = text.slice(0, maxQueryChars).trim().toLowerCase();
      const stems = [...new Set(splitWords(wanted).map(stemOf))].slice(0, maxQueryWords);
      const isSeen = new Uint8Array(lengths.length);
      const seenIds = seen.map((entry) => idByManifest.get(textOf(entry)) ?? -1);
      let length = 0;
      for (const id of seenIds) {
        if (id >= 0) isSeen[id] = 1;
        length += lengths[id] ?? 0;
      }
      const scores = scoreAll(stems, isSeen, { count: seen.length, meanLength: Math.max(1, length / Math.max(1, seen.length)) });
      const hits: Hit[] = [];
      for (const [at, entry] of seen.entries()) {
        const score = (scores[seenIds[at] ?? -1] ?? 0) + (isNamed(entry, wanted) ? 1e6 : 0);
        if (score > 0) hits.push({ entry, score });
      }
      if (hits.length > 0) return { tools: pickBest(hits, limit), total: hits.length };
      const near = findMisspelled(seen, wanted);
      return { tools: near.slice(0, limit), total: near.length };
    },
  };
}

/** What a tool says of itself, whatever is set for it. */
function textOf({ declared, manifest }: ToolEntry): ToolManifest {
  return declared ?? manifest;
}

/** Sorting thousands costs more than finding them: what cannot be among the best is passed over first. */
function pickBest(hits: readonly Hit[], limit: number): ToolEntry[] {
  const scores = Float64Array.from(hits, ({ score }) => score).sort();
  const least = scores.at(-Math.min(limit, scores.length)) ?? 0;
  return hits
    .filter(({ score }) => score >= least)
    .sort((a, b) => b.score - a.score || compareNames(a.entry, b.entry))
    .slice(0, limit)
    .map(({ entry }) => entry);
}

function isNamed({ name, version }: ToolEntry, wanted: string): boolean {
  if (!wanted.startsWith(name.slice(0, 1).toLowerCase())) return false;
  const own = name.toLowerCase();
  return wanted === own || wanted === `${own}@${version}`;
}

function findMisspelled(entries: readonly ToolEntry[], wanted: string): ToolEntry[] {
  if (wanted === '') return [];
  const near = findNearNames(wanted, new Set(entries.map(({ name }) => name)));
  return near.flatMap((name) => entries.filter((entry) => entry.name === name));
}

function compareNames(a: ToolEntry, b: ToolEntry): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}
