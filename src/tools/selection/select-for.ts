import type { Caller } from '../../callers/caller.ts';
import type { Config } from '../../config/config-types.ts';
import type { OfferedTools } from '../shown-to-models.ts';
import type { ToolEntry } from '../tool-types.ts';
import type { ToolUses } from '../tool-uses.ts';
import type { SelectionContext } from './score-tool.ts';
import { type Selection, type SelectionCandidate, selectTools } from './select-tools.ts';

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
