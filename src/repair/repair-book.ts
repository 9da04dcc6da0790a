import { randomUUID } from 'node:crypto';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { omitUndefined, readJson } from '../config/json-object.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventLog } from '../events/event.ts';
import type { RepairRow, RepairTable } from '../store/tables/plugins/repairs.ts';
import {
  attemptSchema,
  failureSchema,
  type KeptProposal,
  openStates,
  proposalSchema,
  type Repair,
  type RepairState,
  repairStates,
} from './repair.ts';

interface RepairQuery {
  readonly path?: string;
  readonly states?: readonly RepairState[];
  readonly limit: number;
}

interface RepairChange {
  readonly reason: string;
  readonly author?: 'repair' | 'model';
  readonly generation?: string;
  readonly generationHash?: string;
  /** The number of that generation, for those who are told. */
  readonly generationNumber?: number;
  readonly proposal?: KeptProposal;
}

const keptRepairs = 1000;
const dayMs = 86_400_000;
const maxAttemptsKept = 40;
const states: readonly string[] = repairStates;
const passing: readonly RepairState[] = ['running', 'publishing', 'applying'];

/** All repairs with their history. */
export type RepairBook = ReturnType<typeof createRepairBook>;

/** Opens the book over its table; every change is on the disk when it returns. */
export function createRepairBook(parts: {
  readonly table: RepairTable;
  readonly events: Pick<EventLog, 'publish'>;
  readonly showPath: (path: string) => string;
  readonly now: () => number;
}) {
  const { table, events, now } = parts;
  const known = new Set(table.paths());

  /** Throws `repair-unknown`. */
  function get(id: string): Repair {
    const row = table.get(id);
    const repair = row && readRow(row);
    if (repair === undefined) throw new HotcellError('repair-unknown', `There is no repair "${id}".`);
    return repair;
  }

  function put(repair: Repair): Repair {
    table.upsert(toRow(repair));
    return repair;
  }

  const told = (repair: Repair) => ({ repair: repair.id, path: parts.showPath(repair.path) });

  /** Moves a repair on; tells of it where it comes to rest. */
  function move(id: string, state: RepairState, { generationNumber, ...change }: RepairChange): Repair {
    const isPassing = passing.includes(state);
    const { endedAtMs: _endedAtMs, ...before } = get(id);
    const repair = put({ ...before, ...change, state, ...(isPassing ? {} : { endedAtMs: now() }) });
    const data = { ...told(repair), state, reason: repair.reason, ...omitUndefined({ generation: generationNumber }) };
    if (!isPassing) events.publish('repair-end', { subject: repair.plugin, data });
    return repair;
  }

  return {
    get,
    list: (query: RepairQuery): Repair[] => table.list(query).flatMap((row) => readRow(row) ?? []),
    open(begun: Pick<Repair, 'path' | 'plugin' | 'class' | 'failureKey' | 'failure' | 'contentHash'>): Repair {
      const startedAtMs = now();
      known.add(begun.path);
      const id = `rep_${startedAtMs.toString(36)}${randomUUID().slice(-8)}`;
      const repair = put({ ...begun, id, state: 'running', reason: 'under way', attempts: [], tokens: 0, cost: 0, startedAtMs });
      table.prune(keptRepairs, openStates);
      const data = { ...told(repair), class: repair.class, message: repair.failure.message };
      events.publish('repair-start', { subject: repair.plugin, data });
      return repair;
    },
    /** Notes what was tried. */
    addAttempt(id: string, attempt: Repair['attempts'][number]): Repair {
      const repair = get(id);
      const data = { ...told(repair), by: attempt.by, outcome: attempt.outcome, note: attempt.note };
      const added = put({ ...repair, attempts: [...repair.attempts, attempt].slice(-maxAttemptsKept) });
      events.publish('repair-update', { subject: repair.plugin, data });
      return added;
    },
    move,
    addUse(id: string, { tokens, cost }: { readonly tokens: number; readonly cost: number }): void {
      const repair = get(id);
      put({ ...repair, tokens: repair.tokens + tokens, cost: repair.cost + cost });
    },
    /** What the repairs of a plugin, or of all, used of models in the last day. */
    usedOf: (path: string | undefined) => table.sumSince(now() - dayMs, path),
    /** Those with this key of a failure alone, when one is given. */
    count: table.count,
    /** Ends proposals that were made before then; bounded, so that the rest ends with the next look. */
    expire(beforeMs: number): void {
      for (const id of table.listOlder('proposed', beforeMs, keptRepairs))
        move(id, 'expired', { reason: 'Nobody decided about it in time (repair.proposalMs).' });
    },
    /** Whether a plugin has any: costs nothing. */
    has: (path: string) => known.has(path),
    forget(path: string): void {
      known.delete(path);
      table.forget(path);
    },
  };
}

function toRow({ failure, attempts, proposal, author, generation, generationHash, endedAtMs, ...repair }: Repair): RepairRow {
  return {
    ...repair,
    author: author ?? null,
    generation: generation ?? null,
    generationHash: generationHash ?? null,
    endedAtMs: endedAtMs ?? null,
    failureJson: JSON.stringify(failure),
    attemptsJson: JSON.stringify(attempts),
    proposalJson: proposal === undefined ? null : JSON.stringify(proposal),
  };
}

const readFailure = createReader(failureSchema);
const readAttempt = createReader(attemptSchema);
const readProposal = createReader(proposalSchema);

/** Undefined for a row that is damaged or was written on other terms: it is history, nothing depends on it. */
function readRow({ failureJson, attemptsJson, proposalJson, ...row }: RepairRow): Repair | undefined {
  const { author, generation, generationHash, endedAtMs, state, ...rest } = row;
  const failure = readFailure(readJson(failureJson));
  if (failure === undefined || !isState(state)) return undefined;
  const attempts: unknown = readJson(attemptsJson);
  return {
    ...rest,
    state,
    failure,
    attempts: Array.isArray(attempts) ? attempts.flatMap((attempt) => readAttempt(attempt) ?? []) : [],
    ...(author === 'repair' || author === 'model' ? { author } : {}),
    ...omitUndefined({
      generation: generation ?? undefined,
      generationHash: generationHash ?? undefined,
      proposal: proposalJson === null ? undefined : readProposal(readJson(proposalJson)),
      endedAtMs: endedAtMs ?? undefined,
    }),
  };
}

function createReader<Schema extends TSchema>(schema: Schema) {
  const compiled = Compile(schema);
  return (value: unknown) => (compiled.Check(value) ? value : undefined);
}

function isState(state: string): state is RepairState {
  return states.includes(state);
}
