import type { Caller } from '../callers/caller.ts';
import type { ToolRegistry } from './registry.ts';
import { isOpenTo } from './seen-by-callers.ts';
import type { ToolSwitches } from './settings/tool-switches.ts';
import type { ToolEntry } from './tool-types.ts';

/** Tools that lead to all others: for models alone, since the grant of a plugin names the tools that it may call. */
export const metaTools: ReadonlySet<string> = new Set(['search_tools', 'call_tool', 'search_code', 'run_code']);

/** The tools that models are told of: each of them would let a model in that acts for this caller. */
export type OfferedTools = ReturnType<typeof createOfferedTools>;

/** Creates the view of the registry that models get. */
export function createOfferedTools(parts: {
  readonly registry: Pick<ToolRegistry, 'list'>;
  readonly switches: Pick<ToolSwitches, 'isOn'>;
}) {
  function isOffered(entry: ToolEntry, caller: Caller): boolean {
    if (entry.manifest.who === 'person' || !isOpenTo(caller, entry)) return false;
    return entry.source === 'builtin' || parts.switches.isOn('custom');
  }
  return {
    /** By name, the highest version first. */
    list: (caller: Caller): readonly ToolEntry[] =>
      parts.switches.isOn('enabled') ? parts.registry.list().filter((entry) => isOffered(entry, caller)) : [],
    /** Whatever there is, offered or not: the same object as long as it is the same. */
    all: parts.registry.list,
  };
}
