import type { ErrorCode } from '../../errors/catalog.ts';

/** What decides whether a call may make another one. */
export interface NestingFacts {
  /** The tool that is to be called: `name@version`. */
  readonly tool: string;
  /** Tools under way above it, outermost first: `name@version`. */
  readonly chain: readonly string[];
  readonly maxDepth: number;
}

/** Why a call may not make another one. */
export interface NestingRefusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly fix: string;
}

/** Decides whether a tool may be called from within these others; undefined lets it. */
export function decideNesting({ tool, chain, maxDepth }: NestingFacts): NestingRefusal | undefined {
  const route = [...chain, tool].join(' -> ');
  if (chain.includes(tool)) {
    const message = `"${tool}" is under way already, and would wait for itself: ${route}.`;
    return { code: 'call-cycle', message, fix: 'Do the work in one tool, or call another one.' };
  }
  if (chain.length < maxDepth) return undefined;
  const message = `At most ${maxDepth} tools may call one another; this would be one more: ${route}.`;
  return { code: 'call-too-deep', message, fix: 'Call fewer tools from within tools, or raise tools.maxDepth.' };
}

/** A call as far as shared cells are concerned. */
export interface CellUse {
  readonly id: string;
  readonly parent: string | undefined;
  /** The cell that it shares, or empty. */
  readonly cellKey: string;
  /** It waits for the cell, else it holds it. */
  readonly isWaiting: boolean;
}

/**
 * True when a call by `parent` into a shared cell could never begin: the cell is held by a call above it, or by a call that
 * waits, over any number of calls and cells, for one that a call above holds.
 */
export function wouldWaitForItself(cellKey: string, parent: string, uses: Iterable<CellUse>): boolean {
  if (cellKey === '') return false;
  const useById = new Map<string, CellUse>();
  const holderByCell = new Map<string, CellUse>();
  const wantedBy = new Map<string, CellUse[]>();
  for (const use of uses) {
    useById.set(use.id, use);
    if (use.cellKey === '') continue;
    if (use.isWaiting) wantedBy.set(use.cellKey, [...(wantedBy.get(use.cellKey) ?? []), use]);
    else holderByCell.set(use.cellKey, use);
  }
  const above = new Set(listAbove(parent, useById));
  const seen = new Set<string>();
  const open = [cellKey];
  for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
    const holder = holderByCell.get(cell);
    if (holder === undefined || seen.has(cell)) continue;
    seen.add(cell);
    if (above.has(holder.id)) return true;
    // What the holder waits for: cells that calls below it want.
    for (const [wanted, waiting] of wantedBy) {
      if (waiting.some(({ id }) => listAbove(id, useById).includes(holder.id))) open.push(wanted);
    }
  }
  return false;
}

/** A call and those above it. */
function listAbove(id: string, useById: ReadonlyMap<string, CellUse>): string[] {
  const found: string[] = [];
  for (let at: string | undefined = id; at !== undefined && !found.includes(at); at = useById.get(at)?.parent) found.push(at);
  return found;
}
