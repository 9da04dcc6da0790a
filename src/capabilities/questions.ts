import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import type { BorderRequest } from '../border/border.ts';
import type { Capability, CarryOut } from '../border/capability.ts';
import type { CapabilityUser } from '../border/capability-user.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Approval, ApprovalRequest } from '../permissions/approvals/approval-types.ts';
import type { Approvals } from '../permissions/approvals/approvals.ts';
import { readForm } from '../permissions/approvals/form.ts';
import { createPayloadReader } from './payload.ts';

/** What is asked: a person, or the client of the caller. */
interface Question extends Pick<ApprovalRequest, 'kind' | 'reason' | 'question'> {
  /** What the answer binds. */
  readonly bound: string;
  readonly details: ApprovalRequest['details'];
  readonly isForClient?: true;
}

const maxQuestionChars = 2000;
/** A person who is asked again and again says yes in the end. */
const maxQuestions = 20;
/** What a client is asked for, such as the answers of a model in a loop. */
const maxClientQuestions = 100;
const maxParamsBytes = 1024 * 1024;

const text = Type.String({ minLength: 1, maxLength: maxQuestionChars });
const readConfirm = createPayloadReader(Type.Object({ question: text }, { additionalProperties: false }));
const readAsk = createPayloadReader(
  Type.Object(
    { message: text, schema: Type.Optional(Type.Unknown()), name: Type.Optional(Type.String({ pattern: '^[\\w.-]{1,64}$' })) },
    { additionalProperties: false },
  ),
);
const readParams = createPayloadReader(Type.Object({ params: Type.Unknown() }, { additionalProperties: false }));

/** How an operation becomes a question, and its answer a value of the guest. */
interface Operation {
  readonly read: (request: BorderRequest, user: CapabilityUser) => Question;
  readonly show: (answer: Approval) => unknown;
}

const operations: Readonly<Record<string, Operation>> = {
  confirm: { read: readConfirmation, show: ({ status }) => status === 'approved' },
  ask: {
    read: readFormQuestion,
    show: ({ status, content = {} }) => (status === 'approved' ? { action: 'accept', content } : { action: 'decline' }),
  },
  'client.createMessage': { read: readMessageQuestion, show: showContent },
  'client.listRoots': { read: readRootsQuestion, show: showContent },
};

/** Whether an operation of the border asks somebody, and its answer may take days. */
export function isQuestion(operation: string): boolean {
  return Object.hasOwn(operations, operation);
}

/**
 * `context.confirm`, `context.ask` and `context.client`: ask a person or the client of the caller and wait, for days if need be, with
 * the clock of the call held. Refuses with `approval-expired` when nobody answered in time.
 */
export function createQuestions(approvals: Pick<Approvals, 'ask' | 'settled'>): Capability {
  const counts = new WeakMap<CapabilityUser, { person: number; client: number }>();

  function count(user: CapabilityUser, { isForClient }: Question): number {
    const asked = counts.get(user) ?? { person: 0, client: 0 };
    counts.set(user, asked);
    const number = isForClient ? ++asked.client : ++asked.person;
    if (number <= (isForClient ? maxClientQuestions : maxQuestions)) return number;
    throw isForClient
      ? new HotcellError('quota-exceeded', `A call may ask its client for at most ${maxClientQuestions} things.`)
      : new HotcellError('quota-exceeded', `A call may ask a person at most ${maxQuestions} questions.`, {
          fix: 'Ask one question about all that is to be done.',
        });
  }

  const carryOut =
    ({ read, show }: Operation): CarryOut =>
    async (request, user, signal) => {
      const question = read(request, user);
      signal.throwIfAborted();
      const number = count(user, question);
      const hash = createHash('sha256').update(question.bound).digest('hex');
      const startClock = user.holdClock();
      try {
        const { kind, reason, question: said, details } = question;
        const asked = approvals.ask({
          kind,
          askKey: `${user.executionId}:${request.id ?? `n${number}`}:${hash}`,
          unitPath: user.unitPath,
          plugin: user.plugin,
          tool: user.tool,
          executionId: user.executionId,
          above: user.above,
          caller: user.caller,
          isAdmin: user.isAdmin === true,
          session: user.session,
          reason,
          question: said,
          argumentsHash: hash,
          details,
        });
        const answer = await approvals.settled(asked.id, signal);
        const what = `context.${request.op}`;
        if (answer.status === 'expired') throw new HotcellError('approval-expired', `Nobody answered ${what} in time.`);
        if (answer.status === 'withdrawn') throw new HotcellError('cancelled', `The question of ${what} was taken back.`);
        return { payload: show(answer) };
      } finally {
        startClock();
      }
    };
  return {
    operations: Object.fromEntries(Object.entries(operations).map(([name, operation]) => [name, carryOut(operation)])),
    longWaits: Object.fromEntries(Object.keys(operations).map((name) => [name, { whenFull: 'refused' }])),
  };
}

function readConfirmation(request: BorderRequest, { tool }: CapabilityUser): Question {
  const { question } = readConfirm(request);
  return { kind: 'confirm', reason: 'confirm', question, bound: question, details: { tool } };
}

function readFormQuestion(request: BorderRequest): Question {
  const { message, schema, name } = readAsk(request);
  const form = readForm(schema);
  const details = { message, schema: form.schema, ...(name !== undefined && { name }) };
  return { kind: 'ask', reason: 'ask', question: message, bound: JSON.stringify(details), details };
}

function readMessageQuestion(request: BorderRequest, { clientCan = [] }: CapabilityUser): Question {
  const { params } = readParams(request);
  const bytes = Buffer.byteLength(request.payload);
  if (bytes > maxParamsBytes) {
    const told = `The parameters of context.client.createMessage have ${bytes} bytes; at most ${maxParamsBytes} are taken.`;
    throw new HotcellError('payload-too-large', told);
  }
  if (!clientCan.includes('sampling')) throw refuseClient('createMessage', 'no model to ask', 'Ask context.llm instead.');
  const details = { method: 'sampling/createMessage', params };
  const question = 'May the plugin ask the model of the client?';
  return { kind: 'ask', reason: 'ask', question, bound: JSON.stringify(details), details, isForClient: true };
}

function readRootsQuestion(_request: BorderRequest, { clientCan = [] }: CapabilityUser): Question {
  if (!clientCan.includes('roots'))
    throw refuseClient('listRoots', 'no list of folders', 'Take the folder as an argument instead.');
  const details = { method: 'roots/list' };
  const question = 'May the plugin know the folders of the client?';
  return { kind: 'ask', reason: 'ask', question, bound: details.method, details, isForClient: true };
}

function refuseClient(member: string, lacks: string, fix: string): HotcellError {
  const told = `context.client.${member} is not possible in this call: its client has ${lacks}.`;
  return new HotcellError('client-cannot', told, { fix });
}

function showContent({ status, content = {} }: Approval): unknown {
  if (status === 'approved') return content;
  throw new HotcellError('approval-denied', 'The client of the caller said no.');
}
