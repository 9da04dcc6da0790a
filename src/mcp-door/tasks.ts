import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Caller } from '../callers/caller.ts';
import type { Execution } from '../calls/call-types.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Ask } from '../operations/ask.ts';
import { sayFailure } from '../operations/calling/call-content.ts';
import { readAsking } from '../operations/calling/call-watch.ts';
import type { ToolBooks } from '../operations/calling/tool-book.ts';
import { executionContracts } from '../operations/contracts/executions.ts';
import type { OperationContext } from '../operations/operation.ts';
import { type ClientAbilities, readAbilities, tasksExtension } from './client-abilities.ts';
import { toToolResult } from './content.ts';
import { answerQuestions, sortQuestions, toInputRequests } from './questions.ts';

/** How often a client should look after a task. */
const pollIntervalMs = 500;
/** The daemon keeps records by number and size, not by age: for so long nobody needs to fear for one. */
const ttlMs = 24 * 3600 * 1000;

/** The answer to a call that goes on as a task: an execution under its id, so it is there over restarts. */
export async function createTask(executionId: string, parts: TaskParts): Promise<Record<string, unknown>> {
  const { execution, status } = await readTask(executionId, parts);
  return { resultType: 'task', ...describeTask(execution, status) };
}

/** What tasks are looked up with, for one request of a caller. */
export interface TaskParts {
  readonly ask: Ask;
  readonly context: OperationContext;
  readonly can: ClientAbilities;
}

type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

const taskParams = z.looseObject({ taskId: z.string().min(1).max(128) });

/** Serves the methods of the extension to clients that declare it; every execution of the caller can be looked after. */
export function registerTasks(
  server: Server,
  { ask, caller, books }: { readonly ask: Ask; readonly caller: Caller; readonly books: ToolBooks },
): void {
  function partsOf(ctx: ServerContext): TaskParts {
    const can = readAbilities(server, ctx);
    if (!can.tasks) throw lacksTasks();
    return { ask, can, context: { caller, signal: ctx.mcpReq.signal } };
  }

  server.setRequestHandler('tasks/get', { params: taskParams }, async ({ taskId }, ctx) => {
    const parts = partsOf(ctx);
    const { execution, status, questions } = await orUnknown(() => readTask(taskId, parts));
    const { askable } = await sortQuestions(questions, parts);
    const tool = (await books.read(caller)).find(execution.tool);
    return {
      ...describeTask(execution, status),
      ...(status === 'input_required' ? { inputRequests: toInputRequests(askable) } : {}),
      ...(status === 'completed' ? { result: { ...toToolResult(execution, tool?.output) } } : {}),
      ...(status === 'failed' ? { error: { code: ProtocolErrorCode.InternalError, message: sayFailure(execution) } } : {}),
    };
  });
  server.setRequestHandler('tasks/update', { params: taskParams }, async ({ taskId }, ctx) => {
    const parts = partsOf(ctx);
    const { questions } = await orUnknown(() => readTask(taskId, parts));
    const { askable } = await sortQuestions(questions, parts);
    // The library takes them out of the parameters, as it does for calls.
    await answerQuestions(askable, ctx.mcpReq.inputResponses ?? {}, parts);
    return {};
  });
  server.setRequestHandler('tasks/cancel', { params: taskParams }, async ({ taskId }, ctx) => {
    const { context } = partsOf(ctx);
    await orUnknown(() => ask(executionContracts.cancel, { id: taskId }, context));
    return {};
  });
}

/** The refusal of what is for clients that have tasks. */
export function lacksTasks(): MissingRequiredClientCapabilityError {
  return new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [tasksExtension]: {} } } });
}

async function readTask(
  id: string,
  { ask, context }: TaskParts,
): Promise<{ readonly execution: Execution; readonly status: TaskStatus; readonly questions: readonly string[] }> {
  const { execution, asked: questions } = await readAsking(id, ask, context);
  return { execution, questions, status: statusOf(execution, questions.length > 0) };
}

function statusOf({ status, error }: Execution, isAsking: boolean): TaskStatus {
  if (status === 'pending' || status === 'running') return isAsking ? 'input_required' : 'working';
  if (status === 'cancelled') return 'cancelled';
  if (status === 'success') return 'completed';
  // What a tool says itself is its result; that it was ended is a failure of the task.
  return error?.code === 'handler-threw' ? 'completed' : 'failed';
}

function describeTask({ id, createdAtMs, startedAtMs, endedAtMs }: Execution, status: TaskStatus) {
  return {
    taskId: id,
    status,
    createdAt: new Date(createdAtMs).toISOString(),
    lastUpdatedAt: new Date(endedAtMs ?? startedAtMs ?? createdAtMs).toISOString(),
    ttlMs,
    pollIntervalMs,
  };
}

async function orUnknown<Found>(find: () => Promise<Found>): Promise<Found> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof HotcellError) || error.code !== 'execution-unknown') throw error;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
  }
}
