import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { readJson } from '../../config/json-object.ts';
import { errorCatalog, isErrorCode } from '../../errors/catalog.ts';
import type { ExecutionRow } from '../../store/tables/calls/executions.ts';
import { type Execution, type ExecutionError, executionError } from '../call-types.ts';

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
