import { Type } from 'typebox';
import Value from 'typebox/value';
import type { CapabilityUser } from '../border/capability-user.ts';
import type { Caller } from '../callers/caller.ts';
import { outputOf, type ToolPort } from '../capabilities/tools.ts';
import { limitTable } from '../config/limits.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { suggestNearNames } from '../errors/near-names.ts';
import type { HostedCall, HostedTool } from '../tools/hosted/hosted-types.ts';
import type { SearchIndex } from '../tools/search/search-index.ts';
import { metaTools, type OfferedTools } from '../tools/shown-to-models.ts';
import { parseToolRef } from '../tools/tool-ref.ts';
import type { ToolEntry } from '../tools/tool-types.ts';

/** What tools need that find and call others. */
export interface MetaToolParts {
  readonly offered: OfferedTools;
  readonly index: SearchIndex;
  /** Calls within a call, with the rights of whoever made it. */
  readonly call: ToolPort['call'];
  /** Who made a call; undefined when it is over. */
  readonly callerOf: (executionId: string) => Caller | undefined;
}

const input = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 256, description: 'The name of the tool, as search_tools answers it.' }),
    arguments: Type.Optional(
      Type.Unsafe<Record<string, unknown>>(Type.Object({}, { description: 'Its arguments; {} when left out.' })),
    ),
  },
  { additionalProperties: false },
);

/** `call_tool`: calls another tool with the rights of whoever calls it, as a call of its own. */
export function createCallTool(parts: MetaToolParts): HostedTool {
  return {
    name: 'call_tool',
    description: 'Calls a tool by its name, such as one that search_tools found, and answers what it answers.',
    input: { ...input },
    tags: ['tools'],
    // The tool that is called has a time of its own.
    timeoutMs: limitTable.wallMs.max,
    run(args, call) {
      const { name, arguments: given = {} } = Value.Parse(input, args);
      return callOffered(parts, { name, arguments: given }, call);
    },
  };
}

/** Calls a tool that models may be told of. Throws its error, and `tool-unknown` with near names that the caller may know. */
async function callOffered(
  parts: MetaToolParts,
  { name: ref, arguments: args }: { readonly name: string; readonly arguments: unknown },
  { user, signal }: HostedCall,
): Promise<unknown> {
  const name = requireOffered(parts, requireOutermostCaller(parts, user), ref);
  return outputOf(await parts.call(user.executionId, { ref, arguments: args }, signal), name);
}

/** The name of a tool that models may be told of which act for this caller. Throws `tool-unknown` with near names that it may know. */
export function requireOffered({ offered }: Pick<MetaToolParts, 'offered'>, caller: Caller, ref: string): string {
  const { name } = parseToolRef(ref);
  const names = new Set(offered.list(caller).map((entry) => entry.name));
  if (names.has(name)) return name;
  throw new HotcellError('tool-unknown', `There is no tool "${name}".${suggestNearNames(name, names)}`, {
    fix: 'Look for it with search_tools.',
  });
}

/** The tools that a script calls, or that are found: those that models may be told of, but for those that lead to all others. */
export function listCallable(parts: Pick<MetaToolParts, 'offered' | 'callerOf'>, user: CapabilityUser): ToolEntry[] {
  return parts.offered.list(requireOutermostCaller(parts, user)).filter(({ name }) => !metaTools.has(name));
}

/** For whom a tool looks or calls. Throws `not-supported` within another tool: its grant names the tools that it may call. */
export function requireOutermostCaller(
  { callerOf }: Pick<MetaToolParts, 'callerOf'>,
  { executionId, tool, chain }: CapabilityUser,
): Caller {
  const caller = callerOf(executionId);
  if (caller === undefined) throw new HotcellError('cancelled', 'The call is over.');
  if (chain.length === 1) return caller;
  throw new HotcellError('not-supported', `"${tool}" is for models, not for other tools.`, {
    fix: 'In a plugin use context.tools.list and context.tools.call.',
  });
}
