import { type Message, type Part, type SendMessageRequest, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import type { Caller } from '../callers/caller.ts';
import type { Execution } from '../calls/call-types.ts';
import { isObject } from '../config/json-object.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Ask } from '../operations/ask.ts';
import { CallWatch, readAsking } from '../operations/calling/call-watch.ts';
import type { ToolBooks } from '../operations/calling/tool-book.ts';
import { type ApprovalView, approvalContracts } from '../operations/contracts/access/approvals.ts';
import { executionContracts } from '../operations/contracts/executions.ts';
import { toolContracts } from '../operations/contracts/tools.ts';
import type { OperationContext } from '../operations/operation.ts';
import { describeAgent } from './agent-card.ts';
import { dataPart, toArtifact, toMessage, toStatus, toTask } from './task-view.ts';

/** What requests of agents are answered with. */
export interface A2aParts {
  readonly ask: Ask;
  readonly books: Pick<ToolBooks, 'read'>;
  readonly version: string;
}

const noNews = { progress() {}, log() {} };
const howTo =
  'Send a data part: {"skill": "list-capabilities"} for the tools that there are, {"tool": NAME, "arguments": {…}} to call one, {"question": ID, "allow": true} or {"question": ID, "content": {…}} to answer a task that waits.';

/** Answers the requests of one caller, with its rights: a task is an execution, and everything is done by operations. */
export function createRequestHandler(parts: A2aParts, caller: Caller, signal: AbortSignal): A2ARequestHandler {
  const { ask } = parts;
  const context: OperationContext = { caller, signal };

  async function readTask(id: string): Promise<{ execution: Execution; questions: ApprovalView[] }> {
    const { execution, asked } = await orRefuse(() => readAsking(id, ask, context));
    return { execution, questions: await Promise.all(asked.map((each) => ask(approvalContracts.get, { id: each }, context))) };
  }

  async function showTask(id: string): Promise<Task> {
    const { execution, questions } = await readTask(id);
    return toTask(execution, questions);
  }

  async function listCapabilities(): Promise<Message> {
    const { tools } = await parts.books.read(caller);
    const items = tools.map(({ view: { name, version, description, input } }) => ({ name, version, description, input }));
    return toMessage([dataPart({ tools: items })]);
  }

  /** Begins what a message asks for, or gives its answer to the task that waits for it. */
  async function begin({ message }: SendMessageRequest): Promise<Message | Begun> {
    if (message === undefined) throw new RequestMalformedError(howTo);
    const said = readSaid(message.parts);
    const watch = new CallWatch(noNews);
    // The call goes on when its client goes away: a task is looked up again, and cancelled by a message.
    const ended = new AbortController();
    const going: OperationContext = { caller, signal: ended.signal, stream: watch };
    if (message.taskId !== '') {
      const { execution, questions } = await readTask(message.taskId);
      await answerQuestion(questions, said);
      const answer = orRefuse(() => ask(executionContracts.follow, { id: execution.id }, going));
      for (const { id } of (await readTask(execution.id)).questions) watch.asked(id);
      return { id: execution.id, answer, watch };
    }
    if (said.skill === 'list-capabilities') return listCapabilities();
    const { tool, arguments: args = {} } = said;
    if (typeof tool !== 'string' || !isObject(args)) throw new RequestMalformedError(howTo);
    const session = message.contextId === '' ? {} : { session: message.contextId };
    const idempotency = message.messageId === '' ? {} : { idempotencyKey: `a2a-${message.messageId}` };
    const answer = orRefuse(() =>
      ask(toolContracts.call, { ref: tool, arguments: { ...args }, ...session, ...idempotency }, going),
    );
    const id = await Promise.race([watch.begun, answer.then(({ executionId }) => executionId)]);
    return { id, answer, watch };
  }

  async function answerQuestion(questions: readonly ApprovalView[], said: Said): Promise<void> {
    const asked = questions.find(({ id }) => said.question === undefined || id === said.question);
    if (asked === undefined) throw new RequestMalformedError('The task does not wait for this answer.');
    const { id, shownHash } = asked;
    const whole = shownHash === undefined ? {} : { shownHash };
    const isForm = asked.kind === 'ask';
    if (isForm ? !isObject(said.content) && said.allow !== false : typeof said.allow !== 'boolean')
      throw new RequestMalformedError(howTo);
    const answer = isForm
      ? ({ answer: isObject(said.content) ? 'approve' : 'deny' } as const)
      : ({ answer: said.allow === true ? 'approve' : 'deny' } as const);
    const content = isForm && isObject(said.content) ? { content: { ...said.content } } : {};
    await orRefuse(() => ask(approvalContracts.answer, { id, ...whole, ...answer, ...content }, context));
  }

  /** Tells what happens until the task ends or waits for somebody. */
  async function* follow({ id, answer, watch }: Begun): AsyncGenerator<StreamResponse, void, undefined> {
    yield { payload: { $case: 'task', value: await showTask(id) } };
    const step = await watch.next(answer, undefined);
    const { execution, questions } = await readTask(id);
    const named = { taskId: id, contextId: execution.session, metadata: undefined };
    if (step.kind === 'answer' && execution.status === 'success') {
      const value = { ...named, artifact: toArtifact(execution.output), append: false, lastChunk: true };
      yield { payload: { $case: 'artifactUpdate', value } };
    }
    yield { payload: { $case: 'statusUpdate', value: { ...named, status: toStatus(execution, questions) } } };
  }

  return {
    getAgentCard: async () => describeAgent('', parts.version),
    async sendMessage(request) {
      const begun = await begin(request);
      if ('messageId' in begun) return begun;
      if (request.configuration?.returnImmediately !== true) await begun.watch.next(begun.answer, undefined);
      return showTask(begun.id);
    },
    async *sendMessageStream(request) {
      const begun = await begin(request);
      if ('messageId' in begun) yield { payload: { $case: 'message', value: begun } };
      else yield* follow(begun);
    },
    getTask: ({ id }) => showTask(id),
    async cancelTask({ id }) {
      const { cancelled } = await orRefuse(() => ask(executionContracts.cancel, { id }, context));
      if (!cancelled) throw new TaskNotCancelableError(`The task ${id} has ended.`);
      await ask(executionContracts.follow, { id }, context);
      return showTask(id);
    },
    async *resubscribe({ id }) {
      const { questions } = await readTask(id);
      const watch = new CallWatch(noNews);
      const answer = orRefuse(() => ask(executionContracts.follow, { id }, { ...context, stream: watch }));
      for (const question of questions) watch.asked(question.id);
      yield* follow({ id, answer, watch });
    },
    async listTasks({ pageSize = 50, pageToken, contextId, status }) {
      const cursor = pageToken === '' ? {} : { cursor: pageToken };
      const page = await orRefuse(() =>
        ask(executionContracts.list, { limit: Math.min(100, Math.max(1, pageSize)), ...cursor }, context),
      );
      const tasks = await Promise.all(page.items.map(({ id }) => showTask(id)));
      const fits = (task: Task): boolean =>
        (contextId === '' || task.contextId === contextId) &&
        (status === TaskState.TASK_STATE_UNSPECIFIED || task.status?.state === status);
      const found = tasks.filter(fits);
      return { tasks: found, nextPageToken: page.next ?? '', pageSize: found.length, totalSize: page.total };
    },
    getAuthenticatedExtendedAgentCard: refuse,
    createTaskPushNotificationConfig: refusePush,
    getTaskPushNotificationConfig: refusePush,
    listTaskPushNotificationConfigs: refusePush,
    deleteTaskPushNotificationConfig: refusePush,
  };
}

/** A call that is under way. */
interface Begun {
  readonly id: string;
  readonly answer: Promise<unknown>;
  readonly watch: CallWatch;
}

type Said = Readonly<Record<string, unknown>>;

/** What an agent said: its first data part, or a text that is JSON or the name of a skill. */
function readSaid(sent: readonly Part[]): Said {
  for (const { content } of sent) {
    if (content?.$case === 'data' && isObject(content.value)) return content.value;
    if (content?.$case !== 'text') continue;
    if (content.value.trim() === 'list-capabilities') return { skill: 'list-capabilities' };
    try {
      const value: unknown = JSON.parse(content.value);
      if (isObject(value)) return value;
    } catch {
      // It may be words beside the data.
    }
  }
  throw new RequestMalformedError(howTo);
}

/** Refusals of the daemon in the words of the protocol. */
async function orRefuse<Found>(find: () => Promise<Found>): Promise<Found> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof HotcellError)) throw error;
    if (error.code === 'execution-unknown') throw new TaskNotFoundError(error.message);
    throw new RequestMalformedError(`${error.message} ${error.fix} (${error.code})`);
  }
}

async function refuse(): Promise<never> {
  throw new UnsupportedOperationError('This is not part of what the agent card says.');
}

async function refusePush(): Promise<never> {
  throw new PushNotificationNotSupportedError('Tasks are followed or looked up, not pushed.');
}
