/** node:worker_threads: a plugin is one thread, and starts none. */
export const isMainThread = true;
export const parentPort = null;
export const workerData = null;
export const threadId = 0;
export const resourceLimits = {};
export const SHARE_ENV = Symbol.for('nodejs.worker_threads.SHARE_ENV');
export const MessageChannel: unknown = Reflect.get(globalThis, 'MessageChannel');
export const MessagePort: unknown = Reflect.get(globalThis, 'MessagePort');
export const markAsUntransferable = (): void => {};
export const markAsUncloneable = (): void => {};
export const getEnvironmentData = (): undefined => undefined;
