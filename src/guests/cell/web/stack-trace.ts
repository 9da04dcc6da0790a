/** What V8 adds to Error and other engines lack: packages for Node call it unasked. */

const site = {
  getFileName: () => '/plugin/index.js',
  getScriptNameOrSourceURL: () => '/plugin/index.js',
  getLineNumber: () => 1,
  getColumnNumber: () => 1,
  getFunctionName: () => null,
  getMethodName: () => null,
  getTypeName: () => null,
  getThis: () => undefined,
  getFunction: () => undefined,
  getEvalOrigin: () => undefined,
  isNative: () => false,
  isEval: () => false,
  isToplevel: () => true,
  isConstructor: () => false,
  isAsync: () => false,
  toString: () => '/plugin/index.js:1:1',
};
const sites = Array.from({ length: 10 }, () => site);

/** Adds `Error.captureStackTrace`; who prepares traces gets places that say nothing. */
export function installStackTrace(): void {
  const GuestError: ErrorConstructor & { prepareStackTrace?: unknown; stackTraceLimit?: number } = Error;
  Object.assign(GuestError, {
    stackTraceLimit: 10,
    captureStackTrace(target: object): void {
      const { prepareStackTrace } = GuestError;
      const stack = new GuestError().stack?.replace(/^.*\n/, '');
      const value = typeof prepareStackTrace === 'function' ? prepareStackTrace(target, sites) : stack;
      Object.defineProperty(target, 'stack', { value, writable: true, configurable: true });
    },
  });
}
