/** The EventEmitter of node:events. */
import { nodeError, wrongType } from '../node-error.ts';

type Name = string | symbol;
type Listener = (...args: unknown[]) => unknown;

interface Entry {
  readonly listener: Listener;
  readonly once: boolean;
}

/** Kept beside the emitter, so that `EventEmitter.call(this)` and classes work alike. */
interface State {
  readonly entries: Map<Name, Entry[]>;
  maxListeners: number | undefined;
}

const states = new WeakMap<object, State>();

/** What every emitter can do. */
export interface EventEmitter {
  on(name: Name, listener: Listener): this;
  once(name: Name, listener: Listener): this;
  off(name: Name, listener: Listener): this;
  emit(name: Name, ...args: unknown[]): boolean;
  listeners(name: Name): Listener[];
}

/** A function and not a class: older code calls it on its own objects. */
export function EventEmitter(this: unknown): void {}

const methods = {
  on(this: EventEmitter, name: Name, listener: Listener): EventEmitter {
    return add(this, name, listener, { once: false, first: false });
  },
  once(this: EventEmitter, name: Name, listener: Listener): EventEmitter {
    return add(this, name, listener, { once: true, first: false });
  },
  prependListener(this: EventEmitter, name: Name, listener: Listener): EventEmitter {
    return add(this, name, listener, { once: false, first: true });
  },
  prependOnceListener(this: EventEmitter, name: Name, listener: Listener): EventEmitter {
    return add(this, name, listener, { once: true, first: true });
  },
  off(this: EventEmitter, name: Name, listener: Listener): EventEmitter {
    const { entries } = stateOf(this);
    const list = entries.get(name) ?? [];
    const last = list.findLast((entry) => entry.listener === listener);
    if (last) remove(this, name, last);
    return this;
  },
  removeAllListeners(this: EventEmitter, name?: Name): EventEmitter {
    const { entries } = stateOf(this);
    if (name === undefined) entries.clear();
    else entries.delete(name);
    return this;
  },
  emit(this: EventEmitter, name: Name, ...args: unknown[]): boolean {
    const { entries } = stateOf(this);
    if (name === 'error' && entries.has(statics.errorMonitor)) this.emit(statics.errorMonitor, ...args);
    const list = entries.get(name);
    if (!list) {
      if (name === 'error') throw unhandled(args[0]);
      return false;
    }
    for (const entry of list) {
      if (entry.once) remove(this, name, entry);
      entry.listener.apply(this, args);
    }
    return true;
  },
  listeners(this: EventEmitter, name: Name): Listener[] {
    return (stateOf(this).entries.get(name) ?? []).map((entry) => entry.listener);
  },
  listenerCount(this: EventEmitter, name: Name, listener?: Listener): number {
    return this.listeners(name).filter((one) => listener === undefined || one === listener).length;
  },
  eventNames(this: EventEmitter): Name[] {
    return [...stateOf(this).entries.keys()];
  },
  setMaxListeners(this: EventEmitter, count: number): EventEmitter {
    stateOf(this).maxListeners = count;
    return this;
  },
  getMaxListeners(this: EventEmitter): number {
    return stateOf(this).maxListeners ?? Reflect.get(EventEmitter, 'defaultMaxListeners');
  },
};

for (const [name, value] of Object.entries({
  ...methods,
  addListener: methods.on,
  removeListener: methods.off,
  rawListeners: methods.listeners,
})) {
  Object.defineProperty(EventEmitter.prototype, name, { value, writable: true, configurable: true });
}

/** A promise of the arguments of the next event; `error` rejects it. */
function once(emitter: EventEmitter, name: Name, options: { signal?: AbortLike } = {}): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const { signal } = options;
    const finish = (settle: () => void) => {
      emitter.off(name, succeed);
      emitter.off('error', fail);
      settle();
    };
    const succeed: Listener = (...args) => finish(() => resolve(args));
    const fail: Listener = (error) => finish(() => reject(error));
    if (signal?.aborted) return reject(signal.reason);
    signal?.addEventListener('abort', () => fail(signal.reason));
    emitter.once(name, succeed);
    if (name !== 'error') emitter.once('error', fail);
  });
}

/** The arguments of every event from now on, as an async iteration; `error` or the signal ends it. */
async function* on(emitter: EventEmitter, name: Name, options: { signal?: AbortLike } = {}): AsyncGenerator<unknown[]> {
  const { signal } = options;
  const arrived: unknown[][] = [];
  let wake = Promise.withResolvers<void>();
  let failure: { readonly reason: unknown } | undefined;
  const collect: Listener = (...args) => {
    arrived.push(args);
    wake.resolve();
  };
  const fail: Listener = (reason) => {
    failure = { reason };
    wake.resolve();
  };
  emitter.on(name, collect);
  emitter.on('error', fail);
  signal?.addEventListener('abort', () => fail(signal.reason));
  if (signal?.aborted) fail(signal.reason);
  try {
    for (;;) {
      const next = arrived.shift();
      if (next) yield next;
      else if (failure) throw failure.reason;
      else {
        await wake.promise;
        wake = Promise.withResolvers<void>();
      }
    }
  } finally {
    emitter.off(name, collect);
    emitter.off('error', fail);
  }
}

/** What hangs on EventEmitter itself; also the named exports of node:events. */
export const statics = {
  EventEmitter,
  once,
  on,
  defaultMaxListeners: 10,
  errorMonitor: Symbol('events.errorMonitor'),
  captureRejectionSymbol: Symbol.for('nodejs.rejection'),
  listenerCount: (emitter: EventEmitter, name: Name) => emitter.listeners(name).length,
  getEventListeners: (emitter: EventEmitter, name: Name) => emitter.listeners(name),
  getMaxListeners: (emitter: object): number => Reflect.apply(methods.getMaxListeners, emitter, []),
  setMaxListeners(count: number, ...emitters: object[]): void {
    if (emitters.length === 0) Object.assign(EventEmitter, { defaultMaxListeners: count });
    for (const emitter of emitters) stateOf(emitter).maxListeners = count;
  },
  addAbortListener(signal: AbortLike, listener: () => void): void {
    if (signal.aborted) queueMicrotask(listener);
    else signal.addEventListener('abort', listener);
  },
};

declare const queueMicrotask: (callback: () => void) => void;

/** The part of an AbortSignal that waiting needs. */
interface AbortLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
}

function stateOf(emitter: object): State {
  let state = states.get(emitter);
  if (!state) {
    state = { entries: new Map(), maxListeners: undefined };
    states.set(emitter, state);
  }
  return state;
}

function add(
  emitter: EventEmitter,
  name: Name,
  listener: Listener,
  { once, first }: { once: boolean; first: boolean },
): EventEmitter {
  if (typeof listener !== 'function') throw wrongType('listener', 'of type function', listener);
  const { entries } = stateOf(emitter);
  if (entries.has('newListener')) emitter.emit('newListener', name, listener);
  const list = entries.get(name) ?? [];
  const entry = { listener, once };
  entries.set(name, first ? [entry, ...list] : [...list, entry]);
  return emitter;
}

/** Takes out this very entry: the same function may listen twice, once and for good. */
function remove(emitter: EventEmitter, name: Name, entry: Entry): void {
  const { entries } = stateOf(emitter);
  const list = entries.get(name) ?? [];
  if (!list.includes(entry)) return;
  setList(
    entries,
    name,
    list.filter((other) => other !== entry),
  );
  if (entries.has('removeListener')) emitter.emit('removeListener', name, entry.listener);
}

function setList(entries: Map<Name, Entry[]>, name: Name, list: Entry[]): void {
  if (list.length === 0) entries.delete(name);
  else entries.set(name, list);
}

function unhandled(error: unknown): unknown {
  return error instanceof Error ? error : nodeError(Error, 'ERR_UNHANDLED_ERROR', `Unhandled error. (${String(error)})`);
}
