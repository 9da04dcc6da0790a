import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import type { Capability } from '../border/capability.ts';
import type { CapabilityUser } from '../border/capability-user.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Approval, Approvals } from '../permissions/approvals/approval-types.ts';
import { createPayloadReader } from './payload.ts';

/** The operation of the border that asks a person. */
export const confirmOperation = 'confirm';

const maxQuestionChars = 2000;
/** A person who is asked again and again says yes in the end. */
const maxQuestions = 20;
const readQuestion = createPayloadReader(
  Type.Object({ question: Type.String({ minLength: 1, maxLength: maxQuestionChars }) }, { additionalProperties: false }),
);

/**
 * `context.confirm(question)`: asks a person and waits, for days if need be, with the clock of the call held. Answers true or
 * false; refuses with `approval-expired` when nobody answered in time.
 */
export function createConfirm(approvals: Pick<Approvals, 'ask' | 'settled'>): Capability {
  const countByUser = new WeakMap<CapabilityUser, number>();

  function count(user: CapabilityUser): number {
    const asked = (countByUser.get(user) ?? 0) + 1;
    countByUser.set(user, asked);
    if (asked <= maxQuestions) return asked;
    throw new HotcellError('quota-exceeded', `A call may ask a person at most ${maxQuestions} questions.`, {
      fix: 'Ask one question about all that is to be done.',
    });
  }

  return {
    name: 'confirm',
    operations: [confirmOperation],
    async answer(request, user, signal) {
      const { question } = readQuestion(request);
      signal.throwIfAborted();
      const number = count(user);
      const hash = createHash('sha256').update(question).digest('hex');
      const startClock = user.holdClock();
      try {
        const asked = approvals.ask({
          kind: 'confirm',
          askKey: `${user.executionId}:${request.id ?? `n${number}`}:${hash}`,
          unitPath: user.unitPath,
          plugin: user.plugin,
          tool: user.tool,
          executionId: user.executionId,
          caller: user.caller,
          isAdmin: user.isAdmin === true,
          session: user.session,
          reason: 'confirm',
          question,
          argumentsHash: hash,
          details: { tool: user.tool },
        });
        return { payload: readAnswer(await approvals.settled(asked.id, signal)) };
      } finally {
        startClock();
      }
    },
  };
}

function readAnswer({ status }: Approval): boolean {
  if (status === 'expired') {
    throw new HotcellError('approval-expired', 'Nobody answered the question of context.confirm in time.');
  }
  if (status === 'withdrawn') throw new HotcellError('cancelled', 'The question of context.confirm was taken back.');
  return status === 'approved';
}
