import { webcrypto } from 'node:crypto';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { BorderAnswer, BorderCrossing, LogLine } from '../../../border/border.ts';
import { CallMeter } from '../../../border/call-meter.ts';
import { EarlierAnswers } from '../../earlier-answers.ts';
import type { ThrowReport } from '../../throw-report.ts';
import { GuestFault } from './guest-fault.ts';
import type { ModuleCall, WorkerReport, WorkerUsage } from './worker-messages.ts';

/** The worker's end of the way over which answers come: a guest is synchronous, so its thread sleeps until there is one. */
export interface AnswerEnd {
  readonly port: MessagePort;
  /** One number, raised with every answer. */
  readonly signal: Int32Array;
}

const maxCrossings = 2000;
const maxRandomBytes = 256 * 1024;
const nanosecondsPerMs = 1_000_000;
// Making one costs more than a short call; it keeps nothing between lines.
const decoder = new TextDecoder();

/**
 * What the host functions of one call work on: they ask and tell the host through it, within the limits of the call, and what the
 * call draws from the clock and at random is kept for its recording, or taken from that of an earlier one.
 */
export class CallState {
  readonly call: ModuleCall;
  output: Uint8Array = new Uint8Array();
  /** What a built module said of the error that it is about to end with. */
  thrown: ThrowReport | undefined;
  readonly #answers: AnswerEnd;
  readonly #post: (report: WorkerReport) => void;
  readonly #meter: CallMeter;
  readonly #earlier: EarlierAnswers | undefined;
  readonly #crossings: BorderCrossing[] = [];
  /** More was drawn than is kept. */
  #isCut = false;
  #randomBytes = 0;
  readonly #beforeMs = readThreadMs();

  constructor(call: ModuleCall, answers: AnswerEnd, post: (report: WorkerReport) => void) {
    this.call = call;
    this.#answers = answers;
    this.#post = post;
    this.#meter = new CallMeter({
      ...call.bounds,
      pendingHostCalls: 1,
      pendingHostBytes: Number.POSITIVE_INFINITY,
      progress: 0,
    });
    this.#earlier = call.earlier && new EarlierAnswers(call.earlier);
  }

  /** Takes a line as bytes of UTF-8. */
  log(level: LogLine['level'], bytes: Uint8Array): void {
    const read = (maxBytes: number) => ({ level, text: decoder.decode(bytes.subarray(0, maxBytes)), atMs: Date.now() });
    const line = this.#meter.log(read);
    if (line !== undefined) this.#post({ type: 'log', line });
  }

  /** Sleeps until the host answered; it ends the thread when the call is over, asleep or not. Throws `host-calls-exceeded`. */
  ask(op: string, payload: string, body?: Uint8Array): BorderAnswer {
    // Its thread sleeps until it is answered: one waits at a time.
    const refusal = this.#meter.ask(op, 0);
    if (refusal !== undefined) throw new GuestFault('host-calls-exceeded', refusal.message);
    const { port, signal } = this.#answers;
    const before = Atomics.load(signal, 0);
    this.#post({ type: 'ask', id: this.#meter.hostCalls, op, payload, ...(body && { body }) });
    for (;;) {
      const received: { message: BorderAnswer } | undefined = receiveMessageOnPort(port);
      if (received) return received.message;
      Atomics.wait(signal, 0, before);
    }
  }

  /** Tells that the guest read a name of the view that is denied. */
  tellDenied(name: string): void {
    this.#post({ type: 'denied', name });
  }

  /** Nanoseconds: since 1970, or for a clock that is not the wall's since some moment. */
  readClock(isWall: boolean): bigint {
    const op = isWall ? 'clock.wall' : 'clock.elapsed';
    const drawn =
      this.#earlier?.takeText(op, '') ?? String(Math.round((isWall ? Date.now() : performance.now()) * nanosecondsPerMs));
    this.#keep({ id: 0, op, payload: '', answer: { ok: true, payload: drawn } });
    return BigInt(drawn);
  }

  /** At most 65,536 bytes. */
  drawBytes(length: number): Uint8Array {
    const drawn = this.#earlier?.takeMade('random', String(length));
    const bytes =
      drawn instanceof Uint8Array && drawn.length === length ? drawn : webcrypto.getRandomValues(new Uint8Array(length));
    this.#randomBytes += length;
    this.#keep({ id: 0, op: 'random', payload: String(length), answer: { ok: true, payload: '', body: bytes } });
    return bytes;
  }

  usage(): WorkerUsage {
    const threadCpuMs = readThreadMs();
    return {
      cpuMs: threadCpuMs - this.#beforeMs,
      threadCpuMs,
      logLines: this.#meter.logLines,
      hostCalls: this.#meter.hostCalls,
      ...(this.#crossings.length > 0 && { drawn: { crossings: this.#crossings, isCut: this.#isCut } }),
    };
  }

  #keep(crossing: BorderCrossing): void {
    if (this.#crossings.length >= maxCrossings || this.#randomBytes > maxRandomBytes) this.#isCut = true;
    else this.#crossings.push(crossing);
  }
}

/** What this thread has spent since it started, in ms. */
export function readThreadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
