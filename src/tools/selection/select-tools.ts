import type { Caller } from '../../callers/caller.ts';
import type { Config, RoutingRule } from '../../config/config-types.ts';
import { globMatches } from '../../permissions/matching.ts';
import type { OfferedTools } from '../shown-to-models.ts';
import type { ToolEntry } from '../tool-types.ts';
import type { ToolUses } from '../tool-uses.ts';
import {
  countedWords,
  type ReadContext,
  readContext,
  type ScoredText,
  type SelectionContext,
  type SelectionPoints,
  scoreTool,
} from './score-tool.ts';

/** Below this a tool in mode `auto` is not shown, and so many of them are shown at most. */
export const autoMinScore = 3;
export const autoMaxTools = 5;

/** A tool that may be shown. */
export interface SelectionCandidate {
  /** What the tool says of itself: the same object as long as that is the same. */
  readonly manifest: ScoredText;
  readonly mode: 'on' | 'auto';
  /** How often it was called: of equal ones the more useful comes first. */
  readonly calls: number;
}

/** A tool with its points; `why` says why it is shown. */
export interface SelectedTool<Candidate> {
  readonly tool: Candidate;
  readonly why: 'on' | 'preferred' | 'score';
  readonly score: number;
  readonly points: readonly SelectionPoints[];
}

/** What a model is shown, in this order, and what in mode `auto` is not, best first. */
export interface Selection<Candidate> {
  readonly shown: readonly SelectedTool<Candidate>[];
  readonly passedOver: readonly Omit<SelectedTool<Candidate>, 'why'>[];
}

const minStemChars = 4;

/**
 * Chooses the tools for one request: all in mode `on` by name; of those in mode `auto` the preferred ones, then those with the
 * most points, equals by calls and then by name. Pure.
 */
export function selectTools<Candidate extends SelectionCandidate>(
  candidates: readonly Candidate[],
  request: SelectionContext,
  { rules, limit = autoMaxTools }: { readonly rules: readonly RoutingRule[]; readonly limit?: number | undefined },
): Selection<Candidate> {
  const context = readContext(request);
  const preferred = rules.filter((rule) => isAbout(rule.intent, context)).flatMap((rule) => rule.preferSkills);
  const scored = candidates.map((tool) => {
    const points = scoreTool(tool.manifest, context);
    const rank = preferred.findIndex((glob) => globMatches(glob, tool.manifest.name));
    return { tool, points, score: points.reduce((sum, each) => sum + each.points, 0), rank };
  });
  const on = scored.filter(({ tool }) => tool.mode === 'on').sort((a, b) => compareNames(a.tool, b.tool));
  const auto = scored.filter(({ tool }) => tool.mode === 'auto').sort(compareScored);
  const chosen = auto.filter(({ rank, score }) => rank >= 0 || score >= autoMinScore).slice(0, limit);
  const rest = auto.filter((each) => !chosen.includes(each));
  return {
    shown: [
      ...on.map(({ rank: _rank, ...each }) => ({ ...each, why: 'on' as const })),
      ...chosen.map(({ rank, ...each }) => ({ ...each, why: rank >= 0 ? ('preferred' as const) : ('score' as const) })),
    ],
    passedOver: rest.map(({ rank: _rank, ...each }) => each),
  };
}

/** An intent without a word is about nothing. */
function isAbout(intent: string, { words }: ReadContext): boolean {
  const wanted = [...countedWords(intent)];
  return wanted.length > 0 && wanted.every((word) => words.has(word) || (word.length >= minStemChars && begins(words, word)));
}

function begins(words: ReadonlySet<string>, beginning: string): boolean {
  return words.values().some((word) => word.startsWith(beginning));
}

interface Ranked {
  readonly tool: SelectionCandidate;
  readonly score: number;
  /** The place of the tool among the preferred ones; -1 for others. */
  readonly rank: number;
}

function compareScored(a: Ranked, b: Ranked): number {
  if (a.rank >= 0 || b.rank >= 0)
    return (a.rank < 0 ? 1 : 0) - (b.rank < 0 ? 1 : 0) || a.rank - b.rank || compareNames(a.tool, b.tool);
  return b.score - a.score || b.tool.calls - a.tool.calls || compareNames(a.tool, b.tool);
}

function compareNames({ manifest: a }: SelectionCandidate, { manifest: b }: SelectionCandidate): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

/** A tool that a caller may use, as it is chosen from. */
export interface OfferedCandidate extends SelectionCandidate {
  readonly entry: ToolEntry;
}

/** What the tools for a request are chosen with. */
export interface SelectionParts {
  readonly offered: Pick<OfferedTools, 'list'>;
  readonly toolUses: Pick<ToolUses, 'useOf'>;
  readonly config: Pick<Config, 'skillRoutingRules'>;
}

/** Chooses the tools that a model is shown which acts for a caller; `total` is what there was to choose from. */
export function selectFor(
  { offered, toolUses, config }: SelectionParts,
  caller: Caller,
  request: SelectionContext,
  limit?: number,
): Selection<OfferedCandidate> & { readonly total: number } {
  const candidates = offered.list(caller).flatMap((entry): OfferedCandidate[] => {
    const { manifest } = entry;
    const { mode } = manifest;
    return mode === 'off' ? [] : [{ manifest, mode, calls: toolUses.useOf(entry)?.calls ?? 0, entry }];
  });
  return { ...selectTools(candidates, request, { rules: config.skillRoutingRules, limit }), total: candidates.length };
}
