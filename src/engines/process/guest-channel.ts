import { randomInt } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { BorderHost } from '../../border/border.ts';
import type { Limits } from '../../config/limits.ts';
import { encodeFrame } from '../../guests/process/frames.ts';
import { createGuestReader, GuestMisbehaved, type HostMessage } from '../../guests/process/protocol.ts';
import { readSeed } from '../earlier-answers.ts';
import type { RunRequest } from '../engine.ts';
import { type GuestEnd, GuestTurn } from './guest-call.ts';

/** Why a guest is gone: the channel ended, or what came over it was no message of an honest guest. */
export interface GuestLoss {
  readonly kind: 'ended' | 'misbehaved';
  readonly reason: string;
}

/** What a load or a call came to. */
export type TurnResult = { readonly turn: GuestTurn } & (
  | { readonly end: GuestEnd; readonly lost?: undefined }
  | { readonly lost: GuestLoss; readonly end?: undefined }
);

/** A call in a guest process. */
export interface GuestCall {
  readonly request: Pick<RunRequest, 'handler' | 'executionId' | 'caller' | 'session' | 'argumentsJson' | 'limits' | 'earlier'>;
  readonly host: BorderHost;
  /** A function of the plugin to call instead of the handler, with one JSON argument (empty for none). */
  readonly hook?: { readonly name: string; readonly argumentJson: string };
  /** Told the turn as soon as it runs: lines of the process belong to it. */
  readonly onTurn?: (turn: GuestTurn) => void;
}

const maxIdleMessages = 2000;

/** One guest process over its private channel: loads one plugin, then runs one call after the other. */
export class GuestChannel {
  /** Settles when the runner is there; rejects when it ends before. */
  readonly ready: Promise<void>;
  readonly #channel: Duplex;
  readonly #read = createGuestReader();
  readonly #ready = Promise.withResolvers<void>();
  #current: { readonly turn: GuestTurn; readonly settle: (result: TurnResult) => void } | undefined;
  #loss: GuestLoss | undefined;
  #idleMessages = 0;
  /** The guest took the call: what it said before belongs to an earlier one, and to another caller maybe. */
  #hasBegun = false;
  readonly #onLost: (loss: GuestLoss) => void;

  /** `onLost` must end the process; it is called once. */
  constructor(channel: Duplex, onLost: (loss: GuestLoss) => void) {
    this.#channel = channel;
    this.#onLost = onLost;
    this.ready = this.#ready.promise;
    this.ready.catch(() => undefined);
    channel.on('data', (chunk: Buffer) => this.#take(chunk));
    channel.on('close', () => this.lose({ kind: 'ended', reason: 'its channel closed' }));
    channel.on('error', () => this.lose({ kind: 'ended', reason: 'its channel broke' }));
  }

  /** Evaluates an ES module with no capability. */
  load(code: string, fileBase: string, limits: Limits): Promise<TurnResult> {
    const turn = new GuestTurn({ limits, send: this.#send });
    this.#hasBegun = true;
    return this.#begin(turn, { t: 'load', fileBase }, code);
  }

  call({ request, host, hook, onTurn }: GuestCall): Promise<TurnResult> {
    const { handler, executionId, caller, session, limits } = request;
    const seed = readSeed(request.earlier?.seed) ?? ([drawWord(), drawWord(), drawWord()] as const);
    const turn = new GuestTurn({ limits, host, send: this.#send, seed });
    onTurn?.(turn);
    const facts = { handler, executionId, caller, session, outputBytes: limits.outputBytes, seed };
    this.#hasBegun = false;
    const message: HostMessage = {
      t: 'call',
      facts,
      view: turn.view(),
      logLines: limits.logLines,
      ...(hook ? { hook: hook.name } : {}),
    };
    return this.#begin(turn, message, hook?.argumentJson ?? request.argumentsJson);
  }

  /** The process is gone, or was ended: what runs in it ends with this. */
  lose(loss: GuestLoss): void {
    if (this.#loss) return;
    this.#loss = loss;
    this.#ready.reject(new Error(loss.reason));
    const current = this.#current;
    this.#current = undefined;
    this.#channel.destroy();
    this.#onLost(loss);
    current?.settle({ turn: current.turn, lost: loss });
  }

  readonly #send = (message: HostMessage, text?: string, body?: Uint8Array): void => {
    if (!this.#channel.destroyed) this.#channel.write(encodeFrame(message, text, body));
  };

  #begin(turn: GuestTurn, message: HostMessage, text: string): Promise<TurnResult> {
    if (this.#current) throw new Error('A guest process runs one call at a time.');
    if (this.#loss) return Promise.resolve({ turn, lost: this.#loss });
    this.#idleMessages = 0;
    return new Promise((resolve) => {
      this.#current = { turn, settle: resolve };
      this.#send(message, text);
    });
  }

  #take(chunk: Buffer): void {
    try {
      for (const message of this.#read(chunk)) {
        const current = this.#hasBegun ? this.#current : undefined;
        if (message.header.t === 'ready') {
          this.#ready.resolve();
          this.#hasBegun = true;
        }
        // What a call left behind comes late, and nobody listens; but an idle guest has not much to say.
        if (!current && ++this.#idleMessages > maxIdleMessages) throw new GuestMisbehaved('it talks while nothing runs in it');
        const end = current?.turn.take(message);
        if (!current || !end) continue;
        this.#current = undefined;
        current.settle({ turn: current.turn, end });
      }
    } catch (error) {
      // Whatever a parser throws here was caused by the guest's bytes.
      const reason = error instanceof GuestMisbehaved ? error.message : 'it sent what is no message';
      this.lose({ kind: 'misbehaved', reason });
    }
  }
}

function drawWord(): number {
  return randomInt(2 ** 32);
}
