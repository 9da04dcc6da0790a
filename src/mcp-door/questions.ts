import { type InputRequest, type InputRequests, inputRequired, inputResponse, isSpecType } from '@modelcontextprotocol/server';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Ask } from '../operations/ask.ts';
import { type ApprovalView, approvalContracts } from '../operations/contracts/access/approvals.ts';
import type { OperationContext } from '../operations/operation.ts';
import type { ClientAbilities } from './client-abilities.ts';

/** A question of a call as its client is asked it. */
export interface ClientQuestion {
  readonly approval: ApprovalView;
  /** Under which the client answers: the name that the plugin gave it, else the id of the question. */
  readonly key: string;
  readonly request: InputRequest;
}

/** A question, and the key under which it was asked. */
export type QuestionByKey = Pick<ClientQuestion, 'approval' | 'key'>;

/** The questions of a call by who can be asked them. */
export interface SortedQuestions {
  /** The client can ask its person, whose answer counts. */
  readonly askable: readonly ClientQuestion[];
  /** They are answered elsewhere. */
  readonly elsewhere: readonly ApprovalView[];
}

/** What of a call's arguments is shown in a question; who has more to judge does it where all of it is shown. */
const maxShownChars = 8000;

/** Reads open questions and makes requests to the client of them, as far as it can ask its person and may answer. */
export async function sortQuestions(
  ids: readonly string[],
  { ask, context, can }: { readonly ask: Ask; readonly context: OperationContext; readonly can: ClientAbilities },
): Promise<SortedQuestions> {
  const approvals = await Promise.all(ids.map((id) => ask(approvalContracts.get, { id }, context)));
  const open = approvals.filter(({ status }) => status === 'open');
  const questions = open.map((approval) => ({ approval, key: keyOf(approval), request: toRequest(approval, can) }));
  return {
    askable: questions.flatMap(({ request, ...question }) => (request === undefined ? [] : [{ ...question, request }])),
    elsewhere: questions.flatMap(({ request, approval }) => (request === undefined ? [approval] : [])),
  };
}

/** As the protocol sends them. */
export function toInputRequests(questions: readonly ClientQuestion[]): InputRequests {
  return Object.fromEntries(questions.map(({ key, request }) => [key, request]));
}

function keyOf({ id, kind, details }: ApprovalView): string {
  return kind === 'ask' && typeof details.name === 'string' ? details.name : id;
}

function toRequest(approval: ApprovalView, can: ClientAbilities): InputRequest | undefined {
  if (approval.mayAnswer !== 'yes') return undefined;
  if (approval.kind === 'ask') return toForm(approval, can);
  const message = sayQuestion(approval);
  if (!can.form || message === undefined) return undefined;
  return inputRequired.elicit({
    message,
    requestedSchema: {
      type: 'object',
      properties: { allow: { type: 'boolean', title: 'Allow', description: 'Yes lets it go on, no ends it.' } },
      required: ['allow'],
    },
  });
}

function toForm({ details, question }: ApprovalView, can: ClientAbilities): InputRequest | undefined {
  const { method, params, schema } = details;
  if (method === 'sampling/createMessage') {
    return can.sampling && isSpecType.CreateMessageRequestParams(params) ? { method, params } : undefined;
  }
  if (method === 'roots/list') return can.roots ? inputRequired.listRoots() : undefined;
  const form = { mode: 'form', message: question, requestedSchema: schema };
  return can.form && isSpecType.ElicitRequestFormParams(form) ? { method: 'elicitation/create', params: form } : undefined;
}

function sayQuestion({ kind, question, plugin, tool, details }: ApprovalView): string | undefined {
  if (kind === 'confirm') return `The plugin "${plugin}" asks: ${question}`;
  const shown = JSON.stringify(details.arguments, null, 2) ?? '';
  if (shown.length > maxShownChars) return undefined;
  return `${question}\n${tool ?? plugin} is called with:\n${shown}`;
}

/**
 * Gives the answers that a client sent to the questions under whose keys they stand. What fits no question is left alone;
 * who dismissed a question leaves it open: answers with the ids of these. Throws `body-invalid` where an answer is none.
 */
export async function answerQuestions(
  questions: readonly QuestionByKey[],
  responses: Readonly<Record<string, unknown>>,
  { ask, context }: { readonly ask: Ask; readonly context: OperationContext },
): Promise<string[]> {
  const dismissed: string[] = [];
  for (const { approval, key } of questions) {
    if (!Object.hasOwn(responses, key)) continue;
    const answer = readAnswer(approval, responses, key);
    if (answer === undefined) dismissed.push(approval.id);
    else await ask(approvalContracts.answer, { id: approval.id, ...shownOf(approval), ...answer }, context);
  }
  return dismissed;
}

/** A client that was sent the whole question names it. */
function shownOf({ shownHash }: ApprovalView): { readonly shownHash?: string } {
  return shownHash === undefined ? {} : { shownHash };
}

interface Answer {
  readonly answer: 'approve' | 'deny';
  readonly content?: Readonly<Record<string, unknown>>;
}

function readAnswer(
  { kind, details }: ApprovalView,
  responses: Readonly<Record<string, unknown>>,
  key: string,
): Answer | undefined {
  const view = inputResponse(responses, key);
  if (kind === 'ask' && details.method === 'sampling/createMessage') {
    if (view.kind !== 'sampling') throw refuse(key, 'a message of a model');
    return { answer: 'approve', content: { ...view.result } };
  }
  if (kind === 'ask' && details.method === 'roots/list') {
    if (view.kind !== 'roots') throw refuse(key, 'a list of roots');
    return { answer: 'approve', content: { roots: view.roots } };
  }
  if (view.kind !== 'elicit') throw refuse(key, 'an answer with an action');
  if (view.action === 'cancel') return undefined;
  if (view.action === 'decline') return { answer: 'deny' };
  if (kind === 'ask') return { answer: 'approve', content: view.content ?? {} };
  if (typeof view.content?.allow !== 'boolean') throw refuse(key, '{"allow": true or false}');
  return { answer: view.content.allow ? 'approve' : 'deny' };
}

function refuse(key: string, expected: string): HotcellError {
  return new HotcellError('body-invalid', `Expected ${expected} as the input response "${key.slice(0, 64)}".`);
}
