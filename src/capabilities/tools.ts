import Type from 'typebox';
import type { BorderRequest } from '../border/border.ts';
import type { Capability } from '../border/capability.ts';
import type { CapabilityUser } from '../border/capability-user.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { matchersOf } from '../permissions/matchers.ts';
import { createPayloadReader } from './payload.ts';
import { createDenial } from './permission-denial.ts';

/** A tool as a plugin sees it. */
export interface VisibleTool {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly flags: { readonly isResearch: boolean; readonly isDeep: boolean };
}

/** How a nested call ended. */
export interface NestedAnswer {
  readonly status: 'success' | 'error' | 'timeout' | 'cancelled';
  readonly output?: unknown;
  readonly error?: { readonly code: HotcellError['code']; readonly message: string; readonly fix: string };
}

/** The call journey as `context.tools` needs it. Identity, rights, depth and time come from the running call, never from here. */
export interface ToolPort {
  /** The name in a reference such as `weather@^1`. */
  nameOf(ref: string): string;
  /** Tools that the caller of a running call may call, sorted by name, highest version first. */
  list(executionId: string): readonly VisibleTool[];
  /** The one of them that a reference means. Throws `tool-unknown`, with the versions that there are. */
  find(executionId: string, ref: string): VisibleTool;
  /** Rejects with a HotcellError when the call was refused before it ran. */
  call(
    executionId: string,
    request: {
      ref: string;
      arguments: unknown;
      timeoutMs?: number | undefined;
      idempotencyKey?: string | undefined;
      /** One turn of a model: of its calls those that are not marked isParallelSafe run one after the other. */
      turn?: string;
      /** The question of the guest that this call answers; asked again, it is answered by the call that was made the first time. */
      question?: { readonly id: number; readonly isAgain: boolean };
    },
    signal: AbortSignal,
  ): Promise<NestedAnswer>;
}

const maxListed = 500;
const maxListedChars = 512 * 1024;
const readCall = createPayloadReader(
  Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 256 }),
      arguments: Type.Optional(Type.Unknown()),
      options: Type.Optional(
        Type.Object(
          {
            timeoutMs: Type.Optional(Type.Number({ minimum: 1, maximum: 900_000 })),
            idempotencyKey: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
          },
          { additionalProperties: false },
        ),
      ),
    },
    { additionalProperties: false },
  ),
);

/**
 * `context.tools`: `tools.call {name, arguments?, options?: {timeoutMs?, idempotencyKey?}}` answers the output of another tool
 * or fails with its error, `tools.list` the tools that may be called.
 */
export function createTools(port: ToolPort) {
  return {
    operations: {
      'tools.call': async (request, user, signal) => ({ payload: await callTool(port, request, user, signal) }),
      'tools.list': async (_request, user) => ({ payload: listTools(port, user) }),
    },
    reads: ['tools.list'],
    longWaits: { 'tools.call': { whenFull: 'refused' } },
  } satisfies Capability;
}

async function callTool(port: ToolPort, request: BorderRequest, user: CapabilityUser, signal: AbortSignal): Promise<unknown> {
  const { name: ref, arguments: args, options = {} } = readCall(request);
  const { id, again: isAgain = false } = request;
  const call = { ref, arguments: args, ...options, ...(id !== undefined && { question: { id, isAgain } }) };
  const answer = await callGranted(port, call, user, signal);
  return outputOf(answer, port.nameOf(ref));
}

/** The output of a call within a call. Throws its error. */
export function outputOf({ status, output, error }: NestedAnswer, tool: string): unknown {
  if (status === 'success') return output ?? null;
  const { code = 'internal', message = `The tool "${tool}" ended as ${status}.`, fix } = error ?? {};
  throw new HotcellError(code, message, { fix });
}

/** Calls a tool within a call. Throws `permission-denied` for what its plugin was not granted. */
export async function callGranted(
  port: ToolPort,
  call: Parameters<ToolPort['call']>[1],
  user: CapabilityUser,
  signal: AbortSignal,
): Promise<NestedAnswer> {
  const name = requireGranted(port, call.ref, user);
  user.noteUse('tools', name, true);
  return port.call(user.executionId, call, signal);
}

/** The name of a tool that a plugin may call. Throws `permission-denied`. */
export function requireGranted(port: ToolPort, ref: string, user: CapabilityUser): string {
  const name = port.nameOf(ref);
  // Before the tool is looked up: a plugin does not learn what exists beyond its grant.
  const { allowsTool } = matchersOf(user.granted());
  if (allowsTool(name)) return name;
  const granted = port.list(user.executionId).flatMap((tool) => (allowsTool(tool.name) ? [tool.name] : []));
  throw createDenial(user, { key: 'tools', entry: name, tried: `call the tool "${name}"`, granted });
}

/** Versions of a name follow one another; the list ends where it would be too much for a cell. */
function listTools(port: ToolPort, user: CapabilityUser): Omit<VisibleTool, 'flags'>[] {
  const { tools } = user.granted();
  if (tools === undefined) throw createDenial(user, { key: 'tools', tried: 'use context.tools' });
  const { allowsTool } = matchersOf(user.granted());
  const listed: Omit<VisibleTool, 'flags'>[] = [];
  let chars = 0;
  for (const { name, version, description, input } of port.list(user.executionId)) {
    if (!allowsTool(name)) continue;
    chars += description.length + JSON.stringify(input).length;
    if (listed.length >= maxListed || chars > maxListedChars) break;
    listed.push({ name, version, description, input });
  }
  return listed;
}
