/** Tools of MCP that work on as tasks: what a client would ask for again and again is waited for here. */
import { isRecord } from './late.ts';

type Json = Record<string, unknown>;
type Step = (args: unknown, extra: Json) => unknown;

/** Starts the task of a call and answers with its result once the tool has stored one, or has said that it failed. */
export async function runTask(steps: unknown, args: unknown, extra: unknown): Promise<unknown> {
  const { createTask, getTaskResult } = isRecord(steps) ? steps : {};
  if (typeof createTask !== 'function') throw new Error('The tool works as a task, but has no function createTask.');
  const store = createTaskStore();
  const withStore: Json = Object.assign(Object.create(isRecord(extra) ? extra : null) as Json, {
    taskStore: store.taskStore,
    taskId: store.taskId,
  });
  await (createTask as Step)(args, withStore);
  const result = await store.ended;
  return typeof getTaskResult === 'function' ? (getTaskResult as Step)(args, withStore) : result;
}

/** The store of one task, which lives as long as its call. */
function createTaskStore() {
  const taskId = 'task';
  const task: Json = { taskId, status: 'working', statusMessage: undefined };
  const { promise: ended, resolve, reject } = Promise.withResolvers<unknown>();
  const taskStore = {
    createTask: async (options: unknown) => Object.assign(task, isRecord(options) ? options : {}),
    getTask: async () => ({ ...task }),
    getTaskResult: () => ended,
    storeTaskResult: async (_id: unknown, status: unknown, result: unknown) => {
      task.status = status;
      resolve(result);
    },
    updateTaskStatus: async (_id: unknown, status: unknown, statusMessage?: unknown) => {
      Object.assign(task, { status, statusMessage });
      if (status === 'failed' || status === 'cancelled')
        reject(new Error(typeof statusMessage === 'string' ? statusMessage : `The task was ${String(status)}.`));
    },
  };
  return { taskId, taskStore, ended };
}
