import {
  type BorderAnswer,
  type BorderHost,
  type BorderView,
  type LogLine,
  type Recording,
  unanswered,
} from '../../border/border.ts';
import { CallMeter, pendingBytesOf, readLogLine } from '../../border/call-meter.ts';
import { Recorder, recordView } from '../../border/recorder.ts';
import type { Limits } from '../../config/limits.ts';
import { type GuestMessage, GuestMisbehaved, type SendToGuest } from '../../guests/process/protocol.ts';
import type { RunUsage } from '../engine.ts';
import { readThrowReport, type ThrowReport } from '../throw-report.ts';
import { GuestStreams, isStreamMessage } from './streams.ts';

/** How the guest says that it is done. */
export type GuestEnd =
  | { readonly kind: 'loaded' | 'return'; readonly text: string }
  | { readonly kind: 'throw'; readonly report: ThrowReport };

const maxReportChars = 128 * 1024;
const maxProgressChars = 8 * 1024;
/** Messages beside questions, log lines and progress: cancels and the end. */
const spareMessages = 1000;
const maxReturnSpare = 64 * 1024;
/** Each may hold two windows of bytes in the daemon. */
const maxConnections = 64;
const tooManyConnections = {
  ok: false,
  code: 'pending-host-calls-exceeded',
  message: `Too many connections are open at once (at most ${maxConnections}, or limits.pendingHostCalls). Close some first.`,
} as const;

type Refusal = Extract<BorderAnswer, { ok: false }>;

interface OpenQuestion {
  readonly op: string;
  readonly payload: string;
  readonly bytes: number;
  readonly controller: AbortController;
}

/** One load or call in a guest process: counts and bounds all that the guest asks and tells. */
export class GuestTurn {
  readonly #limits: Limits;
  readonly #host: BorderHost | undefined;
  readonly #send: SendToGuest;
  readonly #streams: GuestStreams;
  readonly #open = new Map<number, OpenQuestion>();
  readonly #meter: CallMeter;
  readonly #recorder: Recorder;
  #view = '';
  #messages = 0;
  #pendingBytes = 0;
  #isOver = false;

  /** Without a host the guest loads: it may ask nothing. */
  constructor(parts: { limits: Limits; host?: BorderHost | undefined; send: SendToGuest; seed?: readonly number[] }) {
    this.#limits = parts.limits;
    this.#host = parts.host;
    this.#send = parts.send;
    const { hostCalls, pendingHostCalls, logLines, logBytes, argumentBytes } = parts.limits;
    const pendingHostBytes = pendingBytesOf(argumentBytes);
    this.#meter = new CallMeter({ hostCalls, pendingHostCalls, pendingHostBytes, logLines, logBytes, progress: logLines });
    this.#recorder = new Recorder({ seed: (parts.seed ?? []).join(','), startedAtMs: Date.now() });
    this.#streams = new GuestStreams({ dial: parts.host?.dial?.bind(parts.host), send: parts.send });
  }

  /** What the guest may read at the start. */
  view(): BorderView {
    const view = this.#host?.view() ?? { config: {}, env: {}, denied: {} };
    this.#view = JSON.stringify(view);
    const crossing = recordView(view);
    if (crossing) this.#recorder.add(crossing);
    return view;
  }

  /** Takes one message; returns the end when it is one. Throws GuestMisbehaved. */
  take({ header, text, body }: GuestMessage): GuestEnd | undefined {
    const { hostCalls, logLines } = this.#limits;
    // What goes over an open connection is bounded by its window.
    if (isStreamMessage(header) && this.#streams.take(header, body)) return undefined;
    if (++this.#messages > 2 * (hostCalls + logLines) + spareMessages) throw new GuestMisbehaved('it sent too many messages');
    switch (header.t) {
      case 'ask':
        this.#ask(header.id, header.op, text, body);
        return undefined;
      case 'cancel':
        this.#cancel(header.id);
        return undefined;
      case 'log':
        if (text.length > maxReportChars) throw new GuestMisbehaved('it sent a line of the log that is too long');
        this.log(readLogLine(readObject(text)));
        return undefined;
      case 'progress':
        if (text.length > maxProgressChars) throw new GuestMisbehaved('it sent a progress message that is too long');
        this.#takeProgress(text);
        return undefined;
      case 'denied':
        // Only what was denied indeed: the guest can say any name.
        if (Object.hasOwn(this.#host?.view().denied ?? {}, text)) this.#host?.deniedName?.(text);
        return undefined;
      case 'throw':
        if (text.length > maxReportChars) throw new GuestMisbehaved('it sent an error that is too long');
        return { kind: 'throw', report: readThrowReport(text) };
      case 'loaded':
      case 'return':
        return this.#readOutput(header.t, text);
      case 'dial':
        this.#dial(header);
        return undefined;
      case 'ready':
      case 'data':
      case 'end':
      case 'ack':
      case 'close':
        return undefined;
    }
  }

  /** One line of the log, from wherever: the channel, or what the process wrote to its standard output. */
  log(line: LogLine): void {
    const taken = this.#isOver ? undefined : this.#meter.log(() => line);
    if (taken !== undefined) this.#host?.log(taken);
  }

  /** Ends what is still asked. Returns the operations that nobody waited for. */
  close(): readonly string[] {
    this.#isOver = true;
    for (const [id, { op, payload }] of this.#open) this.#recorder.add({ id, op, payload, answer: unanswered });
    const left = [...this.#open.values()];
    this.#open.clear();
    for (const { controller } of left) controller.abort();
    this.#streams.close();
    return [...new Set(left.map(({ op }) => op))];
  }

  usage(cpuMs: number): RunUsage {
    return { cpuMs, hostCalls: this.#meter.hostCalls, logLines: this.#meter.logLines };
  }

  recording(): Recording {
    return this.#recorder.recording();
  }

  #ask(id: number, op: string, payload: string, body: Uint8Array | undefined): void {
    const bytes = op.length + payload.length + (body?.byteLength ?? 0);
    const refusal = this.#refuse(op, bytes);
    if (this.#open.has(id)) throw new GuestMisbehaved('it asked twice under one number');
    if (refusal || !this.#host) {
      this.#deliver(
        id,
        refusal ?? { ok: false, code: 'not-supported', message: `"${op}" is not available while the plugin loads.` },
      );
      return;
    }
    const controller = new AbortController();
    this.#open.set(id, { op, payload, bytes, controller });
    this.#pendingBytes += bytes;
    const request = { id, op, payload, ...(body === undefined ? {} : { body }) };
    this.#host.answer(request, controller.signal).then(
      (answer) => this.#settle(id, op, payload, answer),
      () => this.#settle(id, op, payload, { ok: false, code: 'internal', message: 'The host could not answer.' }),
    );
  }

  /** A connection counts as a host call, and what goes over it is not recorded. */
  #dial({ id, host, port }: { readonly id: number; readonly host: string; readonly port: number }): void {
    const tooMany = this.#streams.count() >= Math.min(this.#limits.pendingHostCalls, maxConnections);
    const refusal = this.#refuse('dial', host.length) ?? (tooMany ? tooManyConnections : undefined);
    this.#recorder.leaveOut();
    this.#streams.dial(id, { host, port }, refusal);
  }

  /** One that waits alone may hold more than all may together. */
  #refuse(op: string, bytes: number): Refusal | undefined {
    const refusal = this.#meter.ask(op, this.#open.size);
    return refusal ?? (this.#open.size === 0 ? undefined : this.#meter.hold(this.#pendingBytes + bytes));
  }

  #settle(id: number, op: string, payload: string, answer: BorderAnswer): void {
    const question = this.#open.get(id);
    if (!question || this.#isOver) return;
    this.#open.delete(id);
    this.#pendingBytes -= question.bytes;
    this.#recorder.add({ id, op, payload, answer });
    this.#deliver(id, answer);
  }

  #deliver(id: number, answer: BorderAnswer): void {
    const view = this.#host?.view();
    const viewJson = JSON.stringify(view);
    const changed = view !== undefined && viewJson !== this.#view ? { view } : {};
    this.#view = viewJson;
    if (answer.ok) this.#send({ t: 'answer', id, ok: true, ...changed }, answer.payload, answer.body);
    else this.#send({ t: 'answer', id, ok: false, ...changed }, JSON.stringify({ code: answer.code, message: answer.message }));
  }

  #cancel(id: number): void {
    const question = this.#open.get(id);
    if (!question) return;
    this.#open.delete(id);
    this.#pendingBytes -= question.bytes;
    question.controller.abort();
  }

  #takeProgress(text: string): void {
    const progress = this.#meter.progress(readObject(text));
    if (progress !== undefined) this.#host?.progress(progress);
  }

  #readOutput(kind: 'loaded' | 'return', text: string): GuestEnd {
    const { outputBytes } = this.#limits;
    const isSmall = text.length <= outputBytes && Buffer.byteLength(text) <= outputBytes;
    if (isSmall) return { kind, text };
    if (text.length > 4 * outputBytes + maxReturnSpare) throw new GuestMisbehaved('it returned far more than its limit');
    const what = kind === 'return' ? 'The output is' : 'What the plugin exports is';
    return { kind: 'throw', report: { code: 'output-exceeded', message: `${what} larger than ${outputBytes} bytes of JSON.` } };
  }
}

/** What is no object is taken as a text. */
function readObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : { text };
  } catch {
    return { text };
  }
}
