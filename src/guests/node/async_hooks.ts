/**
 * node:async_hooks. The engine tells nobody when an await goes on, so a store holds until what `run` was given has settled: right
 * for one flow after the other, not for several at once.
 */
type Callback = (...args: never[]) => unknown;

export class AsyncLocalStorage {
  #store: unknown;

  getStore(): unknown {
    return this.#store;
  }
  enterWith(store: unknown): void {
    this.#store = store;
  }
  disable(): void {
    this.#store = undefined;
  }
  run(store: unknown, callback: Callback, ...args: never[]): unknown {
    const before = this.#store;
    const restore = (): void => {
      this.#store = before;
    };
    this.#store = store;
    let result: unknown;
    try {
      result = callback(...args);
    } catch (error) {
      restore();
      throw error;
    }
    if (result instanceof Promise) result.then(restore, restore);
    else restore();
    return result;
  }
  exit(callback: Callback, ...args: never[]): unknown {
    return this.run(undefined, callback, ...args);
  }
  static bind(callback: Callback): Callback {
    return callback;
  }
  static snapshot(): (callback: Callback, ...args: never[]) => unknown {
    return (callback, ...args) => callback(...args);
  }
}

export class AsyncResource {
  readonly type: string;

  constructor(type: string) {
    this.type = type;
  }
  runInAsyncScope(callback: Callback, self?: unknown, ...args: never[]): unknown {
    return Reflect.apply(callback, self, args);
  }
  emitDestroy(): this {
    return this;
  }
  asyncId(): number {
    return 1;
  }
  triggerAsyncId(): number {
    return 0;
  }
  bind(callback: Callback): Callback {
    return callback.bind(this);
  }
  static bind(callback: Callback): Callback {
    return callback;
  }
}

export const executionAsyncId = (): number => 1;
export const triggerAsyncId = (): number => 0;
export const executionAsyncResource = (): object => ({});
export const createHook = (): object => {
  const hook = { enable: () => hook, disable: () => hook };
  return hook;
};
