import type { Static, TSchema } from 'typebox';
import type { CallAnswer, callAnswer } from '../../calls/call-types.ts';
import type { Client } from '../../client/client.ts';
import type { EventEnvelope } from '../../events/event.ts';

import type { OperationContract } from '../../operations/operation.ts';
import type { CallQuestions } from '../questions/call-questions.ts';
import { renderLogLine } from '../render/log.ts';
import { tame } from '../render/style.ts';
import type { CliSession } from '../session.ts';

/** Calls a tool, a prompt or a resource, shows on stderr what it logs and how far it is while it runs, and asks what it wants to be asked. */
export async function callAndFollow<Input extends TSchema>(
  session: CliSession,
  client: Client,
  contract: OperationContract<Input, typeof callAnswer>,
  input: Static<Input>,
): Promise<CallAnswer> {
  const over = new AbortController();
  let questions: Promise<CallQuestions> | undefined;

  /** Reading what asks takes longer than most calls, and most ask nothing. */
  function openQuestions(): Promise<CallQuestions> {
    questions ??= import('../questions/call-questions.ts').then((part) => part.createCallQuestions(session, client, over.signal));
    return questions;
  }

  const stream = {
    accepted: () => {},
    event(event: EventEnvelope): void {
      if (event.type === 'approval-request') void openQuestions().then((asked) => asked.open(event.data.approval));
      else if (event.type === 'approval-answer') void questions?.then((asked) => asked.end(event.data.approval));
      else session.note(renderNews(session, event));
    },
  };
  try {
    return await client.invoke(contract, input, { signal: session.io.signal, stream });
  } finally {
    over.abort();
    (await questions)?.close();
  }
}

function renderNews({ style }: CliSession, event: EventEnvelope): string {
  if (event.type === 'execution-log') return renderLogLine(event.data.level, event.data.text, style);
  if (event.type !== 'execution-progress') return '';
  const { done, total, message } = event.data;
  const share = total === undefined ? String(done) : `${done}/${total}`;
  return style.dim(`${share}${message === undefined ? '' : ` ${tame(message)}`}\n`);
}
