import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { readJson } from '../config/json-object.ts';
import { quotas } from '../config/quotas.ts';
import type { ConversationRequest } from '../conversation/request.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import type { LoopRow, LoopTable } from '../store/tables/calls/loops.ts';
import type { LoopEnd, LoopRequest } from './loop.ts';
import type { LoopBounds } from './loop-budget.ts';
import type { LoopStep } from './loop-state.ts';

/** A loop as it was kept: who may go on with it is asked anew. */
export type KeptLoop = Omit<LoopRequest, 'caller' | 'signal'> & { readonly steps: readonly LoopStep[] };

const { each, perCaller, inAll, reserve } = quotas['disk.loops'];
const keptMs = 24 * 3_600_000;
const pruneEvery = 50;

const object = Type.Object({});
/** Written by this daemon: what matters is that another version's row is not taken for one of this. */
const storedRequest = Compile(
  Type.Object({
    version: Type.Literal(1),
    id: Type.String(),
    conversation: Type.Unsafe<ConversationRequest>(Type.Object({ messages: Type.Array(object), tools: Type.Array(object) })),
    tools: Type.Record(Type.String(), Type.Object({ ref: Type.String(), isDeep: Type.Optional(Type.Boolean()) })),
    bounds: Type.Unsafe<LoopBounds>(Type.Object({ followUps: Type.Integer(), timeoutMs: Type.Number() })),
    purpose: Type.Enum(['gateway', 'chat', 'repair', 'plugin']),
    session: Type.Optional(Type.String()),
  }),
);
const storedStep = Compile(
  Type.Unsafe<LoopStep>(Type.Object({ type: Type.Enum(['answer', 'accepted', 'results', 'steer', 'taken']) })),
);
const storedEnd = Compile(
  Type.Unsafe<LoopEnd>(Type.Object({ reason: Type.String(), answer: object, messages: Type.Array(object) })),
);

/** Creates the keeper over the table. Ends are kept for a day; callers without a token keep nothing. */
export function createKeptLoops(parts: {
  readonly table: LoopTable;
  readonly redactor?: Redactor | undefined;
  readonly now: () => number;
}) {
  const { table, redactor, now } = parts;
  let begunSincePrune = pruneEvery;
  const write = (value: object): string => {
    const json = JSON.stringify(value);
    return redactor === undefined || redactor.isIdle ? json : redactor.json(json);
  };

  function makeRoom({ caller: { id, role } }: LoopRequest, bytes: number): boolean {
    if (bytes > each.max) return false;
    if (begunSincePrune++ >= pruneEvery) {
      begunSincePrune = 0;
      table.prune(now() - keptMs);
    }
    const max = role === 'admin' ? inAll : inAll - reserve;
    while (table.bytes(id) + bytes > perCaller) if (!table.removeOldestEnded(id)) return false;
    while (table.bytes() + bytes > max) if (!table.removeOldestEnded()) return false;
    return true;
  }

  return {
    /** False where there is no room for it: it runs, but does not survive a restart. */
    begin(request: LoopRequest, startedAtMs: number): boolean {
      if (request.caller.isAnonymous) return false;
      const { caller: _caller, signal: _signal, ...kept } = request;
      const requestJson = write({ version: 1, ...kept });
      if (!makeRoom(request, requestJson.length)) return false;
      const { id, caller, purpose, conversation } = request;
      const kind = { purpose, model: conversation.model };
      table.put({ id, caller: caller.id, ...kind, requestJson, startedAtMs, endedAtMs: null, endJson: null });
      return true;
    },
    /** False when the loop has become too large: nothing is kept of it any more. */
    addStep(request: LoopRequest, step: LoopStep): boolean {
      const stepJson = write(step);
      const isRoom = step.type === 'accepted' || makeRoom(request, stepJson.length);
      if (isRoom) table.addStep(request.id, stepJson);
      else table.remove(request.id);
      return isRoom;
    },
    end: (id: string, end: LoopEnd): void => table.end(id, write(end), now()),
    /** Undefined when another version wrote it or it is damaged. */
    read({ id, requestJson }: LoopRow): KeptLoop | undefined {
      const request = readJson(requestJson);
      if (!storedRequest.Check(request)) return undefined;
      const steps = table.stepsOf(id).map(readJson);
      const sound = steps.filter((step): step is LoopStep => storedStep.Check(step));
      const { version: _version, session, ...rest } = request;
      const kept = { ...rest, ...(session !== undefined && { session }), steps: sound };
      return sound.length === steps.length ? kept : undefined;
    },
    readEnd({ endJson }: LoopRow): LoopEnd | undefined {
      const end = endJson === null ? undefined : readJson(endJson);
      return storedEnd.Check(end) ? end : undefined;
    },
  };
}
