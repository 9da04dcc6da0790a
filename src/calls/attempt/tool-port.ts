import type { ToolPort } from '../../capabilities/tools.ts';
import { metaTools } from '../../tools/offered-tools.ts';
import type { ToolRegistry } from '../../tools/registry.ts';
import { isOpenTo } from '../../tools/visible-tools.ts';
import type { NestedCalls } from './nested-calls.ts';

/** Makes of the call journey what `context.tools` needs. `nested` is asked late: the journey is made after the capabilities. */
export function createToolPort(parts: {
  readonly registry: Pick<ToolRegistry, 'list' | 'nameOf'>;
  readonly nested: () => NestedCalls;
}): ToolPort {
  return {
    nameOf: parts.registry.nameOf,
    list(executionId) {
      const caller = parts.nested().callerOf(executionId);
      if (caller === undefined) return [];
      return parts.registry
        .list()
        .filter((entry) => isOpenTo(caller, entry) && !metaTools.has(entry.name))
        .map(({ name, version, manifest }) => ({
          name,
          version,
          description: manifest.description,
          input: manifest.input,
          flags: manifest.flags,
        }));
    },
    call: (executionId, request, signal) => parts.nested().call(executionId, request, signal),
  };
}
