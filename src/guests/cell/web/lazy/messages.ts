/** MessageChannel within one cell: each end hears what the other posts, one turn later. */
import { Event, EventTarget, structuredClone } from '../base.ts';

export class MessageEvent extends Event {
  readonly data: unknown;
  constructor(type: string, { data = null }: { data?: unknown } = {}) {
    super(type);
    this.data = data;
  }
}

let constructing = false;

export class MessagePort extends EventTarget {
  #other: MessagePort | undefined;
  #onmessage: unknown = null;
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
  }
  postMessage(message: unknown): void {
    const data = structuredClone(message);
    const other = this.#other;
    Promise.resolve().then(() => other?.dispatchEvent(new MessageEvent('message', { data })));
  }
  on(name: string, listener: (data: unknown) => void): this {
    if (name === 'message') this.addEventListener('message', (event) => listener((event as MessageEvent).data));
    return this;
  }
  start(): void {}
  ref(): void {}
  unref(): void {}
  close(): void {
    if (this.#other) this.#other.#other = undefined;
    this.#other = undefined;
  }
}

export class MessageChannel {
  readonly port1: MessagePort;
  readonly port2: MessagePort;
  constructor() {
    [this.port1, this.port2] = MessagePort.pair();
  }
}
