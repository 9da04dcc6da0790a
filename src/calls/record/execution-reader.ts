import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Caller } from '../../callers/caller.ts';
import { readJson } from '../../config/json-object.ts';
import { errorCatalog, isErrorCode } from '../../errors/catalog.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { adviseFor, joinFixes } from '../../errors/problem.ts';
import type { Store } from '../../store/store-types.ts';
import type { ExecutionRow } from '../../store/tables/calls/executions.ts';
import { type CallAnswer, type Execution, type ExecutionError, type ExecutionReader, executionError } from '../call-types.ts';

const defaultLimit = 50;
const maxLimit = 1000;

/** Creates the reader of records. A caller sees its own, whatever it asks for; an admin sees all. */
export function createExecutionReader(parts: { readonly store: Pick<Store, 'executions'> }): ExecutionReader {
  const { executions } = parts.store;
  return {
    list(query, caller) {
      const owner = caller.role === 'admin' ? query.caller : caller.id;
      const filter = {
        ...(query.tool !== undefined && { tool: query.tool }),
        ...(query.status !== undefined && { status: query.status }),
        ...(owner !== undefined && { caller: owner }),
        ...(query.parent !== undefined && { parent: query.parent }),
      };
      const limit = Math.min(maxLimit, Math.max(1, Math.floor(query.limit ?? defaultLimit)));
      if (query.cursor !== undefined && !query.cursor.startsWith('exe_')) throw cursorUnknown();
      const before = query.cursor === undefined ? {} : { before: query.cursor };
      const rows = executions.list({ ...filter, ...before, limit: limit + 1 });
      const items = rows.slice(0, limit).map((row) => showExecution(readExecution(row), caller));
      const last = items.at(-1);
      return { items, ...(rows.length > limit && last && { next: last.id }), total: executions.count(filter) };
    },
    get(id, caller) {
      const row = executions.get(id);
      if (row === undefined || !maySee(caller, row.caller)) throw executionUnknown(id);
      return showExecution(readExecution(row), caller);
    },
  };
}

/** The refusal of a text that no page gave out: with it a list would begin anew, and whoever reads all pages would never end. */
export function cursorUnknown(): HotcellError {
  return new HotcellError('body-invalid', 'The cursor is none that a page before gave out.', {
    fix: 'Take the "next" of the page before, or leave the cursor out.',
  });
}

function showExecution(execution: Execution, caller: Caller): Execution {
  const { error } = execution;
  return error === undefined ? execution : { ...execution, error: showError(error, caller, execution.id) };
}

/** True when somebody may see what a caller owns. */
export function maySee(caller: Caller, ownerId: string): boolean {
  return caller.role === 'admin' || caller.id === ownerId;
}

/** An error as somebody may see it: where in a plugin's files it came from, and what stands there, is for admins. */
export function showError(error: ExecutionError, caller: Pick<Caller, 'role'>, executionId: string): ExecutionError {
  const show = `hotcell executions show ${executionId}`;
  const { frames, codeFrame, ...told } = { ...error, fix: error.fix.replace('hotcell executions show ID', show) };
  if (caller.role === 'admin') return { ...error, fix: told.fix };
  if (frames === undefined && codeFrame === undefined) return { ...told, fix: adviseFor(caller.role, told.fix) };
  // The command `executions show` tells a caller no more than it has read.
  const step = told.fix.includes(show) ? '' : told.fix;
  return { ...told, fix: joinFixes(step, `Ask the operator, who sees where: ${show}.`) };
}

/** The answer of a call with its error as somebody may see it. */
export function showAnswer(answer: CallAnswer, caller: Pick<Caller, 'role'>): CallAnswer {
  const { error, executionId } = answer;
  return error === undefined ? answer : { ...answer, error: showError(error, caller, executionId) };
}

/** The refusal for an id that does not exist, or that belongs to somebody else: the two look alike. */
export function executionUnknown(id: string): HotcellError {
  return new HotcellError('execution-unknown', `There is no execution "${id.slice(0, 64)}" of yours.`);
}

const storedError = Compile(executionError);
const storedCut = Compile(Type.Object({ arguments: Type.Optional(Type.Number()), output: Type.Optional(Type.Number()) }));

/** A row as doors show it. A column that cannot be read, from an older or a damaged database, becomes an error that says so. */
export function readExecution(row: ExecutionRow): Execution {
  return {
    id: row.id,
    tool: row.tool,
    version: row.version,
    plugin: row.plugin,
    generation: row.generation,
    caller: row.caller,
    session: row.session,
    status: row.status,
    arguments: readJson(row.argumentsJson),
    ...(row.outputJson !== null && { output: readJson(row.outputJson) }),
    ...(row.errorJson !== null && { error: readError(row.errorJson) }),
    ...(row.warningsJson !== null && { warnings: readWarnings(row.warningsJson) }),
    createdAtMs: row.createdAtMs,
    ...(row.startedAtMs !== null && { startedAtMs: row.startedAtMs }),
    ...(row.endedAtMs !== null && { endedAtMs: row.endedAtMs }),
    ...(row.durationMs !== null && { durationMs: row.durationMs }),
    attempts: row.attempts,
    ...(row.idempotencyKey !== null && { idempotencyKey: row.idempotencyKey }),
    ...(row.parent !== null && { parent: row.parent }),
    ...(row.engine !== null && { engine: row.engine }),
    ...(row.cutJson !== null && { cut: readCut(row.cutJson) }),
  };
}

function readError(json: string): ExecutionError {
  const parsed = readJson(json);
  if (storedError.Check(parsed) && isErrorCode(parsed.code)) return parsed;
  return { code: 'internal', message: 'The stored error of this execution cannot be read.', fix: errorCatalog.internal.fix };
}

function readCut(json: string): NonNullable<Execution['cut']> {
  const parsed = readJson(json);
  return storedCut.Check(parsed) ? parsed : {};
}

function readWarnings(json: string): readonly string[] {
  const parsed = readJson(json);
  return Array.isArray(parsed) ? parsed.map(String) : [];
}
