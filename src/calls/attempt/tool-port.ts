import type { Caller } from '../../callers/caller.ts';
import type { ToolPort, VisibleTool } from '../../capabilities/tools.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { ToolRegistry } from '../../tools/registry.ts';
import { isOpenTo } from '../../tools/seen-by-callers.ts';
import { metaTools } from '../../tools/shown-to-models.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';
import type { NestedCalls } from './nested-calls.ts';

/** Makes of the call journey what `context.tools` needs. `nested` is asked late: the journey is made after the capabilities. */
export function createToolPort(parts: {
  readonly registry: Pick<ToolRegistry, 'list' | 'nameOf' | 'resolve'>;
  readonly nested: () => NestedCalls;
}): ToolPort {
  const { registry, nested } = parts;
  const seenBy = (caller: Caller) => (entry: ToolEntry) => isOpenTo(caller, entry) && !metaTools.has(entry.name);
  return {
    nameOf: registry.nameOf,
    list(executionId) {
      const caller = nested().callerOf(executionId);
      return caller === undefined ? [] : registry.list().filter(seenBy(caller)).map(describeTool);
    },
    find(executionId, ref) {
      const caller = nested().callerOf(executionId);
      if (caller === undefined) throw new HotcellError('cancelled', 'The call that wanted to call a tool is over.');
      return describeTool(registry.resolve(ref, seenBy(caller)));
    },
    call: (executionId, request, signal) => nested().call(executionId, request, signal),
  };
}

function describeTool({ name, version, manifest }: ToolEntry): VisibleTool {
  const { description, input, flags } = manifest;
  return { name, version, description, input, flags };
}
