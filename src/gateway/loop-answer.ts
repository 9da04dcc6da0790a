import type { ConversationAnswer, StreamEvent } from '../conversation/answer.ts';
import { eventsOfAnswer } from '../conversation/collect-answer.ts';
import type { Message } from '../conversation/conversation.ts';
import { namesOfTools } from '../conversation/request.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { LoopEnd } from '../loop/loop.ts';
import type { Loops } from '../loop/loops.ts';
import type { Asked } from './gateway-types.ts';
import type { InjectedTools } from './injected-tools.ts';
import { answerOfLoop, createLoopStream, type LoopTelling } from './loop-stream.ts';
import { type FencedRequest, identifyRequest, type RequestFence, type RequestIdentity } from './request-fence.ts';
import type { Responses } from './responses.ts';

/** Keeps of an answer what a later request may need. `messages` is everything that it came of. */
export type KeepAnswer = (asked: Asked, answer: ConversationAnswer, messages: readonly Message[], id: string) => void;

interface Parts {
  readonly loops: Loops;
  readonly fence: RequestFence;
  readonly responses: Responses;
  readonly keepAnswer: KeepAnswer;
}

/** A request whose answer a loop makes. */
interface Story {
  readonly asked: Asked;
  readonly entered: FencedRequest;
  readonly identity: RequestIdentity;
  readonly telling: LoopTelling;
}

/** Creates what lets a model call tools of the daemon, or tells of what the same request came to before. */
export function createLoopAnswers({ loops, fence, responses, keepAnswer }: Parts) {
  function noteEnd({ asked, entered, identity, telling }: Story, end: LoopEnd): void {
    const messages = [...entered.before, ...end.messages];
    const hasRun = messages.some(({ role }) => role === 'tool');
    if (!hasRun && identity.key === undefined) fence.forget(asked.request.caller, identity);
    const answer = answerOfLoop(end, telling);
    if (answer.failure === undefined) keepAnswer(asked, answer, messages, entered.answerId);
  }

  /** A loop goes on without its client: what it comes to is kept all the same. */
  async function noteLateEnd(story: Story): Promise<void> {
    const { caller } = story.asked.request;
    const { end } = await loops.follow(story.entered.loopId, caller, new AbortController().signal);
    if (end !== undefined) noteEnd(story, end);
  }

  function begin({ asked, entered }: Story, injected: InjectedTools) {
    const { previousAnswerId: _previous, ...conversation } = asked.whole;
    const { caller, headers, signal } = asked.request;
    const session = headers['x-hotcell-session'];
    return loops.run({
      id: entered.loopId,
      conversation: {
        ...conversation,
        messages: [...conversation.messages, ...entered.before],
        tools: [...conversation.tools, ...injected.declarations],
      },
      tools: injected.tools,
      bounds: injected.bounds,
      caller,
      purpose: 'gateway',
      ...(typeof session === 'string' && { session }),
      ...(headers['x-hotcell-cancel-on-disconnect'] !== undefined && { signal }),
    });
  }

  async function* run(story: Story, injected: InjectedTools): AsyncGenerator<StreamEvent> {
    const { asked, entered, identity, telling } = story;
    const { caller, signal } = asked.request;
    const release = fence.attend(entered.loopId, signal);
    let isOver = false;
    let hasRun = false;
    if (asked.format.name === 'openai-responses') responses.begin(asked, entered.answerId, entered.loopId);
    const stream = createLoopStream(telling);
    try {
      for await (const event of begin(story, injected)) {
        if (event.type === 'call-start' && !hasRun) fence.noteRun(caller, identity);
        hasRun ||= event.type === 'call-start';
        if (event.type === 'loop-end') {
          isOver = true;
          noteEnd(story, event);
        }
        yield* stream.push(event);
      }
    } finally {
      release();
      // What cannot be kept is asked of the loop itself.
      if (!isOver) void noteLateEnd(story).catch(() => {});
    }
  }

  async function* follow(story: Story): AsyncGenerator<StreamEvent> {
    const { asked, entered, telling } = story;
    const { caller, signal } = asked.request;
    const { isStreamed, model } = asked.said;
    const release = fence.attend(entered.loopId, signal);
    try {
      if (isStreamed) yield { type: 'answer-start', id: entered.answerId, model };
      const { end } = await loops.follow(entered.loopId, caller, signal);
      if (end === undefined) throw new HotcellError('cancelled', 'The client is gone.');
      noteEnd(story, end);
      const events = eventsOfAnswer(answerOfLoop(end, telling));
      for (const event of events) if (event.type !== 'answer-start' || !isStreamed) yield event;
    } finally {
      release();
    }
  }

  /** The events of the answer, and its id; or why there is none. */
  return (asked: Asked, injected: InjectedTools) => {
    const { format, request, said } = asked;
    const { caller, headers } = request;
    const identity = identifyRequest(format.name, request.body, headers['idempotency-key'] ?? headers['x-idempotency-key']);
    const entered = fence.enter(caller, identity);
    if (entered.kind === 'refuse') return entered;
    const clientNames = namesOfTools(said);
    const telling = {
      isClients: (name: string) => clientNames.has(name),
      separator: format.hasOneText === true ? '\n\n' : '',
      before: entered.before,
    };
    const story = { asked, entered, identity, telling };
    const isNew = entered.kind === 'run';
    return { kind: entered.kind, events: isNew ? run(story, injected) : follow(story), id: entered.answerId };
  };
}
