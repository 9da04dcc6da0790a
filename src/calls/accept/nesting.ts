import { HotcellError } from '../../errors/hotcell-error.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';
import { type ActiveCall, cellKeyOf } from '../active-call.ts';
import type { CallRequest } from '../call-types.ts';
import type { Refusal } from './admission.ts';

/** What decides whether a call may make another one. */
export interface NestingFacts {
  /** The tool that is to be called: `name@version`. */
  readonly tool: string;
  /** Tools under way above it, outermost first: `name@version`. */
  readonly chain: readonly string[];
  readonly maxDepth: number;
}

/** Decides whether a tool may be called from within these others; undefined lets it. */
export function decideNesting({ tool, chain, maxDepth }: NestingFacts): Refusal | undefined {
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
  /** Whether the call waits for the cell; else it holds it. */
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

/** Throws when a call within a call would go round in a circle, too deep, or wait for a cell that a call above it holds. */
export function checkNesting(
  entry: ToolEntry,
  { parent, caller }: CallRequest,
  facts: { readonly session: string; readonly maxDepth: number; readonly active: ReadonlyMap<string, ActiveCall> },
): void {
  if (parent === undefined) return;
  const { chain, executionId } = parent;
  const tool = `${entry.name}@${entry.version}`;
  const refusal = decideNesting({ tool, chain, maxDepth: facts.maxDepth });
  if (refusal !== undefined) throw new HotcellError(refusal.code, refusal.message, { fix: refusal.fix, facts: { chain } });
  const cellKey = cellKeyOf(entry.served, caller.id, facts.session);
  if (cellKey === '' || !wouldWaitForItself(cellKey, executionId, listUses(facts.active))) return;
  const message = `The cell of "${tool}" is held until the calls above it end, so this one could never begin: ${[...chain, tool].join(' -> ')}.`;
  throw new HotcellError('call-cycle', message, { fix: 'Let one of the two plugins use isolation: "call".', facts: { chain } });
}

function* listUses(active: ReadonlyMap<string, ActiveCall>) {
  for (const [id, { request, cellKey, phase }] of active) {
    // Whoever waits for a person will want its cell afterwards.
    const isWaiting = phase === 'cell-wait' || phase === 'approval';
    if (phase !== 'ended') yield { id, parent: request.parent?.executionId, cellKey, isWaiting };
  }
}
