import { type Artifact, type Message, type Part, Role, type Task, TaskState, type TaskStatus } from '@a2a-js/sdk';
import type { Execution } from '../calls/call-types.ts';
import { sayFailure, toContent } from '../operations/calling/call-content.ts';
import type { ApprovalView } from '../operations/contracts/access/approvals.ts';

/** An execution as a task: its id is that of the execution, so it is there over restarts. */
export function toTask(execution: Execution, questions: readonly ApprovalView[]): Task {
  return {
    id: execution.id,
    contextId: execution.session,
    status: toStatus(execution, questions),
    artifacts: execution.status === 'success' ? [toArtifact(execution.output)] : [],
    history: [],
    metadata: { tool: execution.tool },
  };
}

/** How far an execution is; the message of one that waits says what it waits for. */
export function toStatus(execution: Execution, questions: readonly ApprovalView[]): TaskStatus {
  const { status, endedAtMs, startedAtMs, createdAtMs } = execution;
  const timestamp = new Date(endedAtMs ?? startedAtMs ?? createdAtMs).toISOString();
  const say = (parts: readonly Part[]): Message => toMessage(parts, { taskId: execution.id, contextId: execution.session });
  switch (status) {
    case 'pending':
    case 'running':
      if (questions.length === 0) return { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp };
      return { state: TaskState.TASK_STATE_INPUT_REQUIRED, message: say(questions.flatMap(toParts)), timestamp };
    case 'success':
      return { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp };
    case 'cancelled':
      return { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp };
    case 'error':
    case 'timeout':
      return { state: TaskState.TASK_STATE_FAILED, message: say([textPart(sayFailure(execution))]), timestamp };
  }
}

/** What a tool answered. */
export function toArtifact(output: unknown): Artifact {
  return {
    artifactId: 'output',
    name: 'output',
    description: '',
    parts: toOutputParts(output),
    metadata: undefined,
    extensions: [],
  };
}

/** A message of the daemon. */
export function toMessage(parts: readonly Part[], { taskId = '', contextId = '' } = {}): Message {
  const messageId = `${taskId}${crypto.randomUUID()}`;
  return {
    messageId,
    contextId,
    taskId,
    role: Role.ROLE_AGENT,
    parts: [...parts],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

/** A text. */
export function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' };
}

/** A JSON value. */
export function dataPart(value: unknown): Part {
  return { content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType: 'application/json' };
}

/** The question in words, and with all that is needed to answer it. */
function toParts({ id, kind, question, mayAnswer, details }: ApprovalView): Part[] {
  const answer =
    mayAnswer !== 'yes'
      ? { answeredWith: `hotcell approve ${id}` }
      : kind === 'ask'
        ? { answerWith: { question: id, content: {} }, schema: details.schema }
        : { answerWith: { question: id, allow: true }, arguments: details.arguments };
  return [textPart(question), dataPart({ question: id, kind, ...answer })];
}

function toOutputParts(output: unknown): Part[] {
  if (output === undefined || output === null) return [];
  return toContent(output).map((block) => {
    if (block.type === 'image' || block.type === 'audio') {
      const value = Buffer.from(block.data, 'base64');
      return { content: { $case: 'raw', value }, metadata: undefined, filename: '', mediaType: block.mimeType };
    }
    // What toContent made JSON of is data here.
    if (block.type === 'text')
      return typeof output === 'object' && block.text === JSON.stringify(output) ? dataPart(output) : textPart(block.text);
    return dataPart(block);
  });
}
