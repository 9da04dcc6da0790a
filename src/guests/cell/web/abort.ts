import { DOMException } from './dom-exception.ts';
import { Event, EventTarget } from './event.ts';
import { setTimeout } from './timers.ts';

let constructing = false;
let abortSignal: (signal: AbortSignal, reason: unknown) => void;

export class AbortSignal extends EventTarget {
  #reason: unknown;
  #aborted = false;
  onabort: ((event: Event) => unknown) | null = null;

  static {
    abortSignal = (signal, reason) => {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason;
      signal.dispatchEvent(new Event('abort'));
    };
  }

  constructor() {
    if (!constructing) throw new TypeError('Illegal constructor: use new AbortController().signal');
    super();
    this.addEventListener('abort', (event) => this.onabort?.(event));
  }

  get aborted(): boolean {
    return this.#aborted;
  }
  get reason(): unknown {
    return this.#reason;
  }
  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  static abort(reason?: unknown): AbortSignal {
    const signal = createSignal();
    abortSignal(signal, reason);
    return signal;
  }

  static timeout(ms: number): AbortSignal {
    if (!(ms >= 0)) throw new RangeError(`AbortSignal.timeout expects milliseconds from 0, got ${String(ms)}`);
    const signal = createSignal();
    setTimeout(() => abortSignal(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms);
    return signal;
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const sources = [...signals];
    const signal = createSignal();
    const aborted = sources.find((source) => source.aborted);
    if (aborted) abortSignal(signal, aborted.reason);
    else for (const source of sources) source.addEventListener('abort', () => abortSignal(signal, source.reason), { once: true });
    return signal;
  }
}

export class AbortController {
  readonly #signal = createSignal();

  get signal(): AbortSignal {
    return this.#signal;
  }
  abort(reason?: unknown): void {
    abortSignal(this.#signal, reason);
  }
}

function createSignal(): AbortSignal {
  constructing = true;
  try {
    return new AbortSignal();
  } finally {
    constructing = false;
  }
}
