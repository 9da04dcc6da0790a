import type { BorderCrossing, BorderProgress, BorderView, LogLine } from '../../../border/border.ts';
import { CallMeter, readLogLine } from '../../../border/call-meter.ts';
import type { EarlierAnswers } from '../../earlier-answers.ts';
import { readThrowReport, type ThrowReport } from '../../throw-report.ts';
import type { HostImport } from '../cell/cell.ts';
import { nonDeterministicOperations } from '../host-answers/host-answers.ts';
import { HostRefusal } from '../host-answers/host-refusal.ts';
import type { Question, SliceBudget } from '../protocol.ts';

/** What the guest reported at the end of its work. */
export type GuestReport =
  | { readonly kind: 'loaded'; readonly text: string }
  | { readonly kind: 'return'; readonly text: string }
  | { readonly kind: 'throw'; readonly report: ThrowReport };

const maxRecordedCrossings = 2000;
const maxRecordedBytes = 1024 * 1024;
/** The longest text that the prelude sends of a log line or an exception is below this; what is longer was forged. */
const maxReportBytes = 128 * 1024;
const maxProgressBytes = 8 * 1024;
const maxKeyBytes = 1024;
const notRecorded = { ok: false, code: 'permission-denied', message: 'This name is not available to the call.' } as const;

/** The worker's half of the border during one slice: answers at once what can be, collects the questions for the daemon. */
export class SliceHost {
  readonly questions: Question[] = [];
  readonly logs: LogLine[] = [];
  readonly progress: BorderProgress[] = [];
  readonly crossings: BorderCrossing[] = [];
  crossingsDropped = false;
  /** Ids of waiting questions that the guest took back. */
  readonly cancelled: number[] = [];
  readonly deniedNames: string[] = [];
  report: GuestReport | undefined;
  pending: number;
  #recordedBytes = 0;
  #pendingBytes = 0;
  readonly #meter: CallMeter;
  readonly #budget: SliceBudget;
  readonly #view: BorderView;
  readonly #answerNow: (op: string, payload: string, body: Uint8Array | undefined) => string | Uint8Array | undefined;
  readonly #loading: boolean;
  readonly #isStopped: () => boolean;
  readonly #earlier: EarlierAnswers | undefined;
  readonly #askedIds = new Set<number>();

  constructor(options: {
    budget: SliceBudget;
    view: BorderView;
    pending: number;
    loading: boolean;
    /** What the slice is answered at once where the call goes the way of an earlier one. */
    earlier?: EarlierAnswers | undefined;
    /** The slice is to end: nothing is answered any more, for the guest may call often between two looks at the clock. */
    isStopped: () => boolean;
    answerNow: (op: string, payload: string, body: Uint8Array | undefined) => string | Uint8Array | undefined;
  }) {
    this.#budget = options.budget;
    this.#meter = new CallMeter(options.budget);
    this.#view = options.view;
    this.pending = options.pending;
    this.#loading = options.loading;
    this.#isStopped = options.isStopped;
    this.#earlier = options.earlier;
    this.#answerNow = options.answerNow;
  }

  get hostCalls(): number {
    return this.#meter.hostCalls;
  }

  readonly answer: HostImport = (op, id, readPayload, readBody) => {
    if (this.#isStopped()) throw new HostRefusal('time-exceeded', 'The call is being stopped.');
    switch (op) {
      case 'clock': {
        const now = this.#earlier?.readClock() ?? String(Date.now());
        this.#record(op, '', now);
        return now;
      }
      case 'return':
      case 'loaded':
        this.report ??= this.#readOutput(op, readPayload(this.#budget.outputBytes + 1));
        return undefined;
      case 'throw':
        this.report ??= { kind: 'throw', report: readThrowReport(readPayload(maxReportBytes)) };
        return undefined;
      case 'log':
        this.#addLog(readPayload);
        return undefined;
      case 'progress':
        this.#addProgress(readPayload(maxProgressBytes));
        return undefined;
      case 'cancel':
        this.#cancel(Number(readPayload()));
        return undefined;
      case 'config.get':
      case 'env.get':
        return this.#readView(op, readPayload(maxKeyBytes));
      case 'env.names': {
        const names = this.#earlier?.takeText(op, '') ?? JSON.stringify(Object.keys(this.#view.env));
        this.#record(op, '', names);
        return names;
      }
      default:
        return id === 0 ? this.#answerAtOnce(op, readPayload(), readBody()) : this.#ask(op, id, readPayload, readBody);
    }
  };

  #answerAtOnce(op: string, payload: string, body: Uint8Array | undefined): string | Uint8Array | undefined {
    if (!nonDeterministicOperations.has(op)) return this.#answerNow(op, payload, body);
    const recorded = this.#earlier?.takeMade(op, payload);
    const answer = recorded ?? this.#answerNow(op, payload, body);
    if (typeof answer === 'string') this.#record(op, payload, answer);
    else this.#keep({ id: 0, op, payload, answer: { ok: true, payload: '', body: new Uint8Array(answer ?? []) } });
    return answer;
  }

  #ask(op: string, id: number, readPayload: () => string, readBody: () => Uint8Array | undefined): undefined {
    if (this.#loading) {
      throw new HostRefusal(
        'not-supported',
        `"${op}" is not available while the plugin loads. Use it in the handler or in onStart.`,
      );
    }
    const waiting = this.pending + this.questions.length;
    // All timers of a guest are one question, which has room beside as many others as may wait.
    throwRefusal(this.#meter.ask(op, op === 'timer' ? waiting - 1 : waiting));
    if (!Number.isSafeInteger(id) || this.#askedIds.has(id)) {
      throw new HostRefusal('arguments-invalid', 'A question needs a number of its own.');
    }
    const payload = readPayload();
    const body = readBody();
    this.#pendingBytes += op.length + payload.length + (body?.length ?? 0);
    throwRefusal(this.#meter.hold(this.#pendingBytes));
    this.#askedIds.add(id);
    this.questions.push({ id, op, payload, body });
    return undefined;
  }

  /** A question that was taken back is not carried out, or ended where it is; nothing waits for it. */
  #cancel(id: number): void {
    const index = this.questions.findIndex((question) => question.id === id);
    if (index >= 0) {
      this.questions.splice(index, 1);
    } else if (this.pending > 0 && !this.cancelled.includes(id)) {
      this.cancelled.push(id);
      this.pending--;
    }
  }

  #readView(op: 'config.get' | 'env.get', key: string): string | undefined {
    if (this.#earlier !== undefined) return this.#readEarlier(this.#earlier, op, key);
    const refused = Object.hasOwn(this.#view.denied, key) ? this.#view.denied[key] : undefined;
    const fromConfig = op === 'config.get' && Object.hasOwn(this.#view.config, key) ? this.#view.config[key] : undefined;
    const value = fromConfig ?? (Object.hasOwn(this.#view.env, key) ? this.#view.env[key] : undefined);
    if (value === undefined && refused !== undefined) {
      if (!this.deniedNames.includes(key)) this.deniedNames.push(key);
      this.#keep({ id: 0, op, payload: key, answer: { ok: false, code: 'permission-denied', message: refused } });
      throw new HostRefusal('permission-denied', refused);
    }
    const answer = value === undefined ? '' : JSON.stringify(value);
    this.#record(op, key, answer);
    return answer === '' ? undefined : answer;
  }

  #readEarlier(earlier: EarlierAnswers, op: 'config.get' | 'env.get', key: string): string | undefined {
    const answer = earlier.take(op, key) ?? notRecorded;
    this.#keep({ id: 0, op, payload: key, answer });
    if (!answer.ok) throw new HostRefusal('permission-denied', answer.message);
    return answer.payload === '' ? undefined : answer.payload;
  }

  #readOutput(kind: 'return' | 'loaded', text: string): GuestReport {
    const { outputBytes } = this.#budget;
    if (text.length <= outputBytes && Buffer.byteLength(text) <= outputBytes) return { kind, text };
    const what = kind === 'return' ? 'The output is' : 'What the plugin exports is';
    return { kind: 'throw', report: { code: 'output-exceeded', message: `${what} larger than ${outputBytes} bytes of JSON.` } };
  }

  /** Reads the text only while there is room: a flood of log lines costs the host next to nothing. */
  #addLog(readPayload: (maxBytes: number) => string): void {
    const line = this.#meter.log(() => readLogLine(parseObject(readPayload(maxReportBytes))));
    if (line !== undefined) this.logs.push(line);
  }

  #addProgress(payload: string): void {
    const progress = this.#meter.progress(parseObject(payload));
    if (progress !== undefined) this.progress.push(progress);
  }

  #record(op: string, payload: string, answer: string): void {
    this.#keep({ id: 0, op, payload, answer: { ok: true, payload: answer } });
  }

  #keep(crossing: BorderCrossing): void {
    const { payload, answer } = crossing;
    const answered = answer.ok ? answer.payload.length + (answer.body?.length ?? 0) : answer.message.length;
    this.#recordedBytes += payload.length + answered;
    if (this.crossings.length >= maxRecordedCrossings || this.#recordedBytes > maxRecordedBytes) this.crossingsDropped = true;
    else this.crossings.push(crossing);
  }
}

function throwRefusal(refusal: ReturnType<CallMeter['ask']>): void {
  if (refusal !== undefined) throw new HostRefusal(refusal.code, refusal.message);
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return { text };
  }
}
