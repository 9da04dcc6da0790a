import { cryptoAnswers } from './crypto-answers.ts';
import type { AnswerNow, HostAnswer } from './host-answer.ts';
import { HostRefusal } from './host-refusal.ts';
import { intlAnswers } from './intl-answers.ts';
import { keyAnswers } from './key-answers.ts';
import { textAnswers } from './text-answers.ts';
import { urlAnswers } from './url-answers.ts';
import { zlibAnswers } from './zlib-answers.ts';

const EMPTY = new Uint8Array(0);

/** Operations whose answers differ from run to run: a recording must keep them. All others are functions of the request. */
export const nonDeterministicOperations: ReadonlySet<string> = new Set([
  'crypto.random',
  'crypto.uuid',
  'key.generate',
  'key.sign',
  'key.rsa',
]);

/**
 * The host half of the web API: answers the synchronous operations of the guest. What comes in is hostile; the answer
 * throws a HostRefusal for a request that it does not take, also for operations that it does not know.
 */
export function createHostAnswers(options: {
  lazyModules: Readonly<Record<string, string>>;
}): (op: string, payload: string, body: Uint8Array | undefined) => HostAnswer {
  const answers = new Map<string, AnswerNow>([
    ...Object.entries({ ...urlAnswers, ...textAnswers, ...cryptoAnswers, ...intlAnswers, ...keyAnswers, ...zlibAnswers }),
    ['module', (name) => readModule(options.lazyModules, name)],
  ]);
  return (op, payload, body) => {
    const answer = answers.get(op);
    if (!answer) throw new HostRefusal('not-supported', `The operation "${op.slice(0, 60)}" is not known.`);
    try {
      return answer(payload, body ?? EMPTY, op);
    } catch (error) {
      if (error instanceof HostRefusal) throw error;
      // Whatever the platform throws for odd values (a RangeError of Intl, a string too long) is the guest's own mistake.
      throw new HostRefusal('arguments-invalid', error instanceof Error ? error.message.slice(0, 300) : `${op} failed.`);
    }
  };
}

function readModule(lazyModules: Readonly<Record<string, string>>, name: string): string {
  const text = Object.hasOwn(lazyModules, name) ? lazyModules[name] : undefined;
  if (text === undefined) throw new HostRefusal('not-found', `There is no module "${name.slice(0, 60)}" of the web API.`);
  return text;
}
