import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { BorderAnswer } from '../../../border/border.ts';
import type { CallMeter } from '../../../border/call-meter.ts';
import { GuestFault } from './guest-fault.ts';
import type { WorkerReport } from './worker-messages.ts';

/** The worker's end of the way over which answers come: a guest is synchronous, so its thread sleeps until there is one. */
export interface AnswerEnd {
  readonly port: MessagePort;
  /** One number, raised with every answer. */
  readonly signal: Int32Array;
}

/** Asks the host on behalf of a guest. */
export interface HostCaller {
  /** Sleeps until the host answered. Throws `host-calls-exceeded`. */
  ask(op: string, payload: string, body?: Uint8Array): BorderAnswer;
  /** Tells that the guest read a name of the view that is denied. */
  tellDenied(name: string): void;
}

/** Makes the caller of one call. The host ends the thread when the call is over, asleep or not. */
export function createHostCaller(answers: AnswerEnd, post: (report: WorkerReport) => void, meter: CallMeter): HostCaller {
  return {
    ask(op, payload, body) {
      // Its thread sleeps until it is answered: one waits at a time.
      const refusal = meter.ask(op, 0);
      if (refusal !== undefined) throw new GuestFault('host-calls-exceeded', refusal.message);
      const before = Atomics.load(answers.signal, 0);
      post({ type: 'ask', id: meter.hostCalls, op, payload, ...(body && { body }) });
      for (;;) {
        const received: { message: BorderAnswer } | undefined = receiveMessageOnPort(answers.port);
        if (received) return received.message;
        Atomics.wait(answers.signal, 0, before);
      }
    },
    tellDenied: (name) => post({ type: 'denied', name }),
  };
}
