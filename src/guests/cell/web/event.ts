/** Events without a tree: what AbortSignal and libraries written for the web need. */
import { reportError } from '../warnings.ts';

/** Where an event is on its way; kept beside the event so that plugins cannot forge it. */
interface Dispatch {
  target: EventTarget | null;
  stopped: boolean;
  prevented: boolean;
  running: boolean;
}

interface Listener {
  readonly type: string;
  readonly callback: Callback;
  readonly once: boolean;
  readonly capture: boolean;
  removed: boolean;
}

type Callback = ((event: Event) => unknown) | { handleEvent(event: Event): unknown };
type ListenerOptions = boolean | { once?: boolean; capture?: boolean; signal?: EventTarget & { aborted: boolean } };

let stateOf: (event: Event) => Dispatch;

export class Event {
  readonly #state: Dispatch = { target: null, stopped: false, prevented: false, running: false };
  readonly type: string;
  readonly bubbles: boolean;
  readonly cancelable: boolean;
  readonly composed = false;
  readonly isTrusted = false;
  readonly timeStamp = 0;

  static {
    stateOf = (event) => event.#state;
  }

  constructor(type: string, init: { bubbles?: boolean; cancelable?: boolean } = {}) {
    this.type = String(type);
    this.bubbles = Boolean(init.bubbles);
    this.cancelable = Boolean(init.cancelable);
  }

  get target(): EventTarget | null {
    return this.#state.target;
  }
  get currentTarget(): EventTarget | null {
    return this.#state.running ? this.#state.target : null;
  }
  get eventPhase(): number {
    return this.#state.running ? 2 : 0;
  }
  get defaultPrevented(): boolean {
    return this.#state.prevented;
  }
  preventDefault(): void {
    if (this.cancelable) this.#state.prevented = true;
  }
  stopPropagation(): void {}
  stopImmediatePropagation(): void {
    this.#state.stopped = true;
  }
  composedPath(): EventTarget[] {
    return this.#state.running && this.#state.target ? [this.#state.target] : [];
  }
}

export class CustomEvent extends Event {
  readonly detail: unknown;

  constructor(type: string, init: { bubbles?: boolean; cancelable?: boolean; detail?: unknown } = {}) {
    super(type, init);
    this.detail = init.detail ?? null;
  }
}

export class EventTarget {
  #listeners: Listener[] = [];

  addEventListener(type: string, callback: Callback | null, options: ListenerOptions = {}): void {
    const { once = false, capture = false, signal } = typeof options === 'boolean' ? { capture: options } : options;
    if (!callback || signal?.aborted || this.#find(type, callback, capture)) return;
    this.#listeners.push({ type: String(type), callback, once, capture, removed: false });
    signal?.addEventListener('abort', () => this.removeEventListener(type, callback, capture), { once: true });
  }

  removeEventListener(type: string, callback: Callback | null, options: ListenerOptions = {}): void {
    const found = callback && this.#find(type, callback, Boolean(typeof options === 'boolean' ? options : options.capture));
    if (!found) return;
    found.removed = true;
    this.#listeners = this.#listeners.filter((listener) => listener !== found);
  }

  dispatchEvent(event: Event): boolean {
    const state = stateOf(event);
    state.target = this;
    state.running = true;
    for (const listener of this.#listeners.filter((one) => one.type === event.type)) {
      if (listener.removed) continue;
      if (listener.once) this.removeEventListener(listener.type, listener.callback, listener.capture);
      try {
        if (typeof listener.callback === 'function') listener.callback.call(this, event);
        else listener.callback.handleEvent(event);
      } catch (error) {
        reportError(error);
      }
      if (state.stopped) break;
    }
    state.running = false;
    return !state.prevented;
  }

  #find(type: string, callback: Callback, capture: boolean): Listener | undefined {
    return this.#listeners.find((one) => one.type === String(type) && one.callback === callback && one.capture === capture);
  }
}
