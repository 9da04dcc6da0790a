/** MessageChannel within one cell: each end hears what the other posts, one turn later. */
import { Event, EventTarget } from '../base.ts';
import { structuredClone } from '../structured-clone.ts';

export { structuredClone };

export class MessageEvent extends Event {
  readonly data: unknown;
  readonly ports: readonly MessagePort[];
  constructor(type: string, { data = null, ports = [] }: { data?: unknown; ports?: readonly MessagePort[] } = {}) {
    super(type);
    this.data = data;
    this.ports = ports;
  }
}

type Heard = (event: Event) => unknown;

let constructing = false;

export class MessagePort extends EventTarget {
  #other: MessagePort | undefined;
  #onmessage: unknown = null;
  /** What came before anybody listened. */
  #held: MessageEvent[] | undefined = [];
  readonly #heardBy = new Map<unknown, Heard>();
  static pair(): [MessagePort, MessagePort] {
    constructing = true;
    const [first, second] = [new MessagePort(), new MessagePort()];
    constructing = false;
    first.#other = second;
    second.#other = first;
    return [first, second];
  }
  constructor() {
    if (!constructing) throw new TypeError('Illegal constructor: use new MessageChannel()');
    super();
  }
  get onmessage(): unknown {
    return this.#onmessage;
  }
  set onmessage(listener: unknown) {
    if (this.#onmessage === null) {
      this.addEventListener('message', (event) => typeof this.#onmessage === 'function' && this.#onmessage(event));
    }
    this.#onmessage = listener;
    this.start();
  }
  postMessage(message: unknown, options: readonly object[] | { readonly transfer?: readonly object[] } = []): void {
    const transfer = (Symbol.iterator in options ? [...options] : options.transfer) ?? [];
    const data = structuredClone(message, { transfer });
    const event = new MessageEvent('message', { data, ports: transfer.filter((each) => each instanceof MessagePort) });
    const other = this.#other;
    if (other) Promise.resolve().then(() => other.#hear(event));
  }
  /** As emitters have it: the listener gets the data. */
  on(name: string, listener: (data: unknown) => void): this {
    return this.#listen(name, listener, false);
  }
  once(name: string, listener: (data: unknown) => void): this {
    return this.#listen(name, listener, true);
  }
  off(name: string, listener: unknown): this {
    const heard = this.#heardBy.get(listener);
    if (heard) this.removeEventListener(name, heard);
    this.#heardBy.delete(listener);
    return this;
  }
  start(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const event of held) this.dispatchEvent(event);
  }
  ref(): void {}
  unref(): void {}
  close(): void {
    const other = this.#other;
    this.#other = undefined;
    if (!other) return;
    other.#other = undefined;
    for (const port of [this, other]) Promise.resolve().then(() => port.dispatchEvent(new Event('close')));
  }

  #listen(name: string, listener: (data: unknown) => void, once: boolean): this {
    const heard: Heard = (event) => listener((event as MessageEvent).data);
    this.#heardBy.set(listener, heard);
    this.addEventListener(name, heard, { once });
    if (name === 'message') this.start();
    return this;
  }
  #hear(event: MessageEvent): void {
    if (this.#held) this.#held.push(event);
    else this.dispatchEvent(event);
  }
}

for (const [alias, name] of [
  ['addListener', 'on'],
  ['removeListener', 'off'],
] as const)
  Object.defineProperty(MessagePort.prototype, alias, { value: MessagePort.prototype[name], writable: true, configurable: true });

export class MessageChannel {
  readonly port1: MessagePort;
  readonly port2: MessagePort;
  constructor() {
    [this.port1, this.port2] = MessagePort.pair();
  }
}
