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

/** All repairs with their history; every change is on the disk when it returns. */
export interface RepairBook {
  open(repair: Pick<Repair, 'path' | 'plugin' | 'class' | 'failureKey' | 'failure' | 'contentHash'>): Repair;
  /** Notes what was tried. */
  addAttempt(id: string, attempt: Repair['attempts'][number]): Repair;
  /** Moves a repair on; tells of it where it comes to rest. */
  move(id: string, state: RepairState, change: RepairChange): Repair;
  addUse(id: string, used: { readonly tokens: number; readonly cost: number }): void;
  /** Throws `repair-unknown`. */
  get(id: string): Repair;
  list(query: { readonly path?: string; readonly states?: readonly RepairState[]; readonly limit: number }): Repair[];
  /** What the repairs of a plugin, or of all, used of models in the last day. */
  usedOf(path: string | undefined): { readonly tokens: number; readonly cost: number };
  /** Those with this key of a failure alone, when one is given. */
  count(states: readonly RepairState[], failureKey?: string): number;
  /** Ends proposals that were made before then; bounded, so that the rest ends with the next look. */
  expire(beforeMs: number): void;
  /** Whether a plugin has any: costs nothing. */
  has(path: string): boolean;
  forget(path: string): void;
}

export interface RepairChange {
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

/** Opens the book over its table. */
export function createRepairBook(parts: {
  readonly table: RepairTable;
  readonly events: Pick<EventLog, 'publish'>;
  readonly showPath: (path: string) => string;
  readonly now: () => number;
}): RepairBook {
  const { table, events, now } = parts;
  const known = new Set(table.paths());

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

  const move: RepairBook['move'] = (id, state, { generationNumber, ...change }) => {
    const isPassing = passing.includes(state);
    const { endedAtMs: _endedAtMs, ...before } = get(id);
    const repair = put({ ...before, ...change, state, ...(isPassing ? {} : { endedAtMs: now() }) });
    const data = { ...told(repair), state, reason: repair.reason, ...omitUndefined({ generation: generationNumber }) };
    if (!isPassing) events.publish('repair-end', { subject: repair.plugin, data });
    return repair;
  };

  const list: RepairBook['list'] = (query) => table.list(query).flatMap((row) => readRow(row) ?? []);

  return {
    get,
    list,
    open(begun) {
      const startedAtMs = now();
      known.add(begun.path);
      const id = `rep_${startedAtMs.toString(36)}${randomUUID().slice(-8)}`;
      const repair = put({ ...begun, id, state: 'running', reason: 'under way', attempts: [], tokens: 0, cost: 0, startedAtMs });
      table.prune(keptRepairs, openStates);
      const data = { ...told(repair), class: repair.class, message: repair.failure.message };
      events.publish('repair-start', { subject: repair.plugin, data });
      return repair;
    },
    addAttempt(id, attempt) {
      const repair = get(id);
      const data = { ...told(repair), by: attempt.by, outcome: attempt.outcome, note: attempt.note };
      const added = put({ ...repair, attempts: [...repair.attempts, attempt].slice(-maxAttemptsKept) });
      events.publish('repair-update', { subject: repair.plugin, data });
      return added;
    },
    move,
    addUse(id, { tokens, cost }) {
      const repair = get(id);
      put({ ...repair, tokens: repair.tokens + tokens, cost: repair.cost + cost });
    },
    usedOf: (path) => table.sumSince(now() - dayMs, path),
    count: table.count,
    expire(beforeMs) {
      for (const id of table.listOlder('proposed', beforeMs, keptRepairs))
        move(id, 'expired', { reason: 'Nobody decided about it in time (repair.proposalMs).' });
    },
    has: (path) => known.has(path),
    forget(path) {
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
