import type { Static } from 'typebox';
import type { CallAnswer } from '../calls/call-types.ts';
import type { Client } from '../client/client.ts';
import type { EventEnvelope } from '../events/event.ts';
import { toolContracts } from '../operations/contracts/tools.ts';
import type { CallQuestions } from './call-questions.ts';
import { renderLogLine } from './render/log.ts';
import { tame } from './render/style.ts';
import type { CliSession } from './session.ts';

const types = [
  'execution-start',
  'execution-log',
  'execution-progress',
  'execution-end',
  'approval-request',
  'approval-answer',
] as const;

/** After its answer the last lines of a call may still be on their way, but not for long. */
const lastLinesMs = 500;

/** Calls a tool, shows on stderr what it logs and how far it is while it runs, and asks what it wants to be asked. */
export async function callAndFollow(
  session: CliSession,
  client: Client,
  input: Static<typeof toolContracts.call.input>,
): Promise<CallAnswer> {
  // Told from the tags of other calls alone; node:crypto would take longer to read than the call.
  const tag = `${process.pid}-${Date.now()}-${Math.random().toString(36).slice(2)}`;
  const over = new AbortController();
  const opened = Promise.withResolvers<void>();
  const waited = Promise.withResolvers<void>();
  let patience: NodeJS.Timeout | undefined;
  const events = client.events({ types, signal: over.signal, onOpen: opened.resolve });
  const followed = follow(session, client, { events, tag, over: over.signal });
  try {
    // Who cannot hear the events can still call.
    await Promise.race([opened.promise, followed]);
    const answer = await client.invoke(toolContracts.call, { ...input, tag }, { signal: session.io.signal });
    patience = setTimeout(waited.resolve, lastLinesMs);
    if (answer.replayed !== true) await Promise.race([followed, waited.promise]);
    return answer;
  } finally {
    clearTimeout(patience);
    over.abort();
  }
}

/** Ends with the call. Never rejects: the call itself tells what is wrong. */
async function follow(
  session: CliSession,
  client: Client,
  { events, tag, over }: { events: AsyncIterable<EventEnvelope>; tag: string; over: AbortSignal },
): Promise<void> {
  let id: string | undefined;
  let questions: CallQuestions | undefined;
  try {
    for await (const event of events) {
      if (event.type === 'execution-start' && event.data.tag === tag) id = event.subject;
      if (event.type === 'approval-request' && event.data.tag === tag) id = event.data.execution;
      if (id === undefined) continue;
      if (event.type === 'approval-request' && event.data.execution === id) {
        questions ??= (await import('./call-questions.ts')).createCallQuestions(session, client, over);
        questions.open(event.data.approval);
      }
      if (event.type === 'approval-answer') questions?.end(event.data.approval);
      if (event.subject !== id) continue;
      if (event.type === 'execution-end') return;
      session.note(renderNews(session, event));
    }
  } catch {
    // Shown by the call, which asks the same daemon.
  } finally {
    questions?.close();
  }
}

function renderNews({ style }: CliSession, event: EventEnvelope): string {
  if (event.type === 'execution-log') return renderLogLine(event.data.level, event.data.text, style);
  if (event.type !== 'execution-progress') return '';
  const { done, total, message } = event.data;
  const share = total === undefined ? String(done) : `${done}/${total}`;
  return style.dim(`${share}${message === undefined ? '' : ` ${tame(message)}`}\n`);
}
