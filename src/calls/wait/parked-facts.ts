import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { LogLine } from '../../border/border.ts';
import type { Caller } from '../../callers/caller.ts';
import type { ActiveCall } from '../active-call.ts';
import type { CallRequest, ClientAbility } from '../call-types.ts';

/** What of a waiting call is not in its record: enough to build it again after a restart. */
export interface ParkedFacts {
  /** `call`: it has not begun, a person lets it or not. `confirm`: it asked in the middle. */
  readonly waitsFor: 'call' | 'confirm';
  readonly caller: Caller;
  /** Tells its build again where the daemon ended before the generation was kept. */
  readonly build: { readonly unitPath: string; readonly contentHash: string };
  readonly isBuiltinOnly?: boolean;
  readonly isForModel?: boolean;
  /** The call that made it, and waits for it. */
  readonly parent?: NonNullable<CallRequest['parent']>;
  readonly clientCan?: readonly ClientAbility[];
  readonly timeoutMs?: number;
  /** What was left of its time. */
  readonly leftMs: number;
  /** What a person is asked to let run. */
  readonly argumentsHash?: string;
  readonly logs: readonly LogLine[];
}

const storedFacts = Compile(
  Type.Object({
    version: Type.Literal(1),
    waitsFor: Type.Enum(['call', 'confirm']),
    caller: Type.Object({
      id: Type.String(),
      role: Type.Enum(['admin', 'caller']),
      tools: Type.Optional(Type.Array(Type.String())),
      toolOwners: Type.Optional(Type.Record(Type.String(), Type.String())),
      mayAnswer: Type.Optional(Type.Boolean()),
      code: Type.Optional(Type.Boolean()),
      isAnonymous: Type.Optional(Type.Boolean()),
    }),
    build: Type.Object({ pluginPath: Type.String(), contentHash: Type.String() }),
    isBuiltinOnly: Type.Optional(Type.Boolean()),
    isForModel: Type.Optional(Type.Boolean()),
    parent: Type.Optional(
      Type.Object({
        executionId: Type.String(),
        chain: Type.Array(Type.String()),
        above: Type.Array(Type.String()),
        question: Type.Integer(),
      }),
    ),
    clientCan: Type.Optional(Type.Array(Type.Enum(['form', 'sampling', 'roots']))),
    timeoutMs: Type.Optional(Type.Number({ minimum: 1 })),
    leftMs: Type.Number({ minimum: 0 }),
    argumentsHash: Type.Optional(Type.String()),
    logs: Type.Array(
      Type.Object({ level: Type.Enum(['debug', 'info', 'warn', 'error']), text: Type.String(), atMs: Type.Number() }),
    ),
  }),
);

/** Describes a waiting call as it is kept. */
export function describeParked(call: ActiveCall, waitsFor: ParkedFacts['waitsFor'], argumentsHash?: string): string {
  const { caller, timeoutMs, isBuiltinOnly, isForModel, clientCan, parent } = call.request;
  const { id, role, tools, toolOwners, mayAnswer, code, isAnonymous } = caller;
  const facts: Omit<ParkedFacts, 'build'> = {
    waitsFor,
    caller: {
      id,
      role,
      ...(tools && { tools }),
      ...(toolOwners && { toolOwners }),
      ...(mayAnswer !== undefined && { mayAnswer }),
      ...(code !== undefined && { code }),
      ...(isAnonymous && { isAnonymous }),
    },
    ...(isBuiltinOnly && { isBuiltinOnly }),
    ...(isForModel && { isForModel }),
    ...(parent && { parent }),
    ...(clientCan && { clientCan }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    leftMs: call.deadline.leftMs(),
    ...(argumentsHash !== undefined && { argumentsHash }),
    logs: call.log.lines(),
  };
  const build = { pluginPath: call.unitPath, contentHash: call.entry.served.unit.contentHash };
  return JSON.stringify({ version: 1, build, ...facts });
}

/** Reads what was kept; undefined when another version wrote it or it is damaged. */
export function readParked(json: string): ParkedFacts | undefined {
  try {
    const parsed: unknown = JSON.parse(json);
    if (!storedFacts.Check(parsed)) return undefined;
    const { version: _version, build, ...facts } = parsed;
    return { ...facts, build: { unitPath: build.pluginPath, contentHash: build.contentHash } };
  } catch {
    return undefined;
  }
}
