import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { UnitContent } from '../../units/unit-registry.ts';
import type { ActiveCall } from '../active-call.ts';

/** What of a waiting call is not in its record: enough to build it again after a restart. */
const facts = Type.Object({
  version: Type.Literal(1),
  /** `call`: it has not begun, a person lets it or not. `confirm`: it asked in the middle. */
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
  /** Tells its build again where the daemon ended before the generation was kept. */
  build: Type.Object({ pluginPath: Type.String(), contentHash: Type.String() }),
  isBuiltinOnly: Type.Optional(Type.Boolean()),
  isForModel: Type.Optional(Type.Boolean()),
  /** The call that made it, and waits for it. */
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
  /** What was left of its time. */
  leftMs: Type.Number({ minimum: 0 }),
  /** What a person is asked to let run. */
  argumentsHash: Type.Optional(Type.String()),
  logs: Type.Array(
    Type.Object({ level: Type.Enum(['debug', 'info', 'warn', 'error']), text: Type.String(), atMs: Type.Number() }),
  ),
});
const storedFacts = Compile(facts);

/** What is kept of a waiting call beside its record. */
export type ParkedFacts = Omit<Static<typeof facts>, 'version' | 'build'> & { readonly build: UnitContent };

/** Describes a waiting call as it is kept. */
export function describeParked(call: ActiveCall, waitsFor: ParkedFacts['waitsFor'], argumentsHash?: string): string {
  const { caller, timeoutMs, isBuiltinOnly, isForModel, clientCan, parent } = call.request;
  const { id, role, tools, toolOwners, mayAnswer, code, isAnonymous } = caller;
  return JSON.stringify({
    version: 1,
    build: { pluginPath: call.unitPath, contentHash: call.entry.served.unit.contentHash },
    waitsFor,
    caller: { id, role, tools, toolOwners, mayAnswer, code, isAnonymous },
    isBuiltinOnly,
    isForModel,
    parent,
    clientCan,
    timeoutMs,
    leftMs: call.deadline.leftMs(),
    argumentsHash,
    logs: call.log.lines(),
  });
}

/** Reads what was kept; undefined when another version wrote it or it is damaged. */
export function readParked(json: string): ParkedFacts | undefined {
  try {
    const parsed: unknown = JSON.parse(json);
    if (!storedFacts.Check(parsed)) return undefined;
    const { version: _version, build, ...rest } = parsed;
    return { ...rest, build: { unitPath: build.pluginPath, contentHash: build.contentHash } };
  } catch {
    return undefined;
  }
}
