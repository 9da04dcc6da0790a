/** node:diagnostics_channel within one plugin. */
type Subscriber = (message: unknown, name: string | symbol) => void;

export class Channel {
  readonly name: string | symbol;
  #subscribers: Subscriber[] = [];

  constructor(name: string | symbol) {
    this.name = name;
  }
  get hasSubscribers(): boolean {
    return this.#subscribers.length > 0;
  }
  subscribe(subscriber: Subscriber): void {
    this.#subscribers = [...this.#subscribers, subscriber];
  }
  unsubscribe(subscriber: Subscriber): boolean {
    const before = this.#subscribers.length;
    this.#subscribers = this.#subscribers.filter((one) => one !== subscriber);
    return this.#subscribers.length < before;
  }
  publish(message: unknown): void {
    for (const subscriber of this.#subscribers) subscriber(message, this.name);
  }
  bindStore(): void {}
  unbindStore(): void {}
  runStores(_context: unknown, callback: (...args: unknown[]) => unknown, self?: unknown, ...args: unknown[]): unknown {
    return callback.apply(self, args);
  }
}

const channels = new Map<string | symbol, Channel>();

export function channel(name: string | symbol): Channel {
  const known = channels.get(name) ?? new Channel(name);
  channels.set(name, known);
  return known;
}

export const hasSubscribers = (name: string | symbol): boolean => channels.get(name)?.hasSubscribers ?? false;
export const subscribe = (name: string | symbol, subscriber: Subscriber): void => channel(name).subscribe(subscriber);
export const unsubscribe = (name: string | symbol, subscriber: Subscriber): boolean => channel(name).unsubscribe(subscriber);

export function tracingChannel(name: string): Record<string, unknown> {
  const parts = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'];
  const run = (callback: (...args: unknown[]) => unknown, _context?: unknown, self?: unknown, ...args: unknown[]) =>
    callback.apply(self, args);
  return {
    ...Object.fromEntries(parts.map((part) => [part, channel(`tracing:${name}:${part}`)])),
    hasSubscribers: false,
    subscribe: () => {},
    unsubscribe: () => true,
    traceSync: run,
    tracePromise: run,
    traceCallback: (
      callback: (...args: unknown[]) => unknown,
      _at?: unknown,
      _context?: unknown,
      self?: unknown,
      ...args: unknown[]
    ) => callback.apply(self, args),
  };
}
