/**
 * What the host calls in the guest: `load` once before the image is frozen, `enter` and `settle` in every call. All of
 * them report through the border, so the host needs no other handle into the guest.
 */
import { forgetWaiting, settle, tell } from './border.ts';
import { seedRandom } from './clock.ts';
import { createContext, factsOfCall, setFacts } from './context.ts';
import { describeExports, findExportedPlugin } from './describe.ts';
import { findOffering } from './offerings.ts';
import { forgetRejections, tellRejections } from './rejections.ts';
import { type ConvertTools, writeResult } from './result.ts';
import { GuestRefusal, parseWith } from './standard-schema.ts';
import { warn } from './warnings.ts';
import { forgetTimers } from './web/timers.ts';

interface Tool {
  readonly handler?: unknown;
  readonly parameters?: unknown;
  readonly output?: unknown;
}

const { parse, stringify } = JSON;
const GuestPromise = Promise;
const promiseThen = Promise.prototype.then;
const call = Function.prototype.call;
/** An output up to here goes to the host without a look at the limit. */
const maxUnlookedText = 64 * 1024;

let plugin: Record<string, unknown> | undefined;
let namespace: unknown;
let started = false;
/** The built-in of Node that packages reached for in vain, whatever they made of the refusal. */
let lacks: string | undefined;
const context = createContext();

/** Takes the evaluated bundle's exports, runs `onLoad` and reports the manifest as data (`loaded`) or what it threw. */
export function load(fileBase: string): void {
  const holder = globalThis as { __hotcellExports?: unknown };
  const exported = holder.__hotcellExports;
  delete holder.__hotcellExports;
  const take = (all: unknown): unknown => {
    namespace = all;
    plugin = findExportedPlugin(namespace, fileBase);
    const onLoad = plugin?.onLoad;
    return typeof onLoad === 'function' ? onLoad.call(plugin) : undefined;
  };
  finish(
    // With an await at its top level the module is a promise of its exports.
    () => (exported instanceof GuestPromise ? promiseThen.call(exported, take) : take(exported)),
    () => tell('loaded', describeExports(namespace)),
  );
}

/** Starts one call. `argumentsJson` is checked by the host, as far as it can; `factsJson` are CallFacts. */
export function enter(argumentsJson: string, factsJson: string, handler = 'default'): void {
  begin(factsJson);
  finish(() => {
    const tool = findTool(handler);
    // The plugin's own schema comes first: arguments that do not fit must have no effect.
    const result = parseWith(tool.parameters, parse(argumentsJson), 'arguments-invalid', (args) => run(tool, args));
    return checkOutput(tool.output, result);
  }, sendResult);
}

/** Calls a hook by name with one JSON argument and reports its result like a handler's. */
export function runHook(hook: string, argumentJson: string, factsJson: string): void {
  begin(factsJson);
  finish(() => {
    const target = plugin?.[hook];
    if (typeof target !== 'function') throw new TypeError(`the plugin has no ${hook}`);
    if (hook === 'healthcheck') return target.call(plugin, context);
    return target.call(plugin, argumentJson === '' ? undefined : parse(argumentJson), context);
  }, sendResult);
}

function begin(factsJson: string): void {
  lacks = undefined;
  setFacts(factsJson);
  seedRandom(readSeed);
}

function readSeed() {
  return factsOfCall().seed;
}

/** Readies a cell that lives longer than one call for the next one. */
export function endCall(): void {
  forgetWaiting();
  forgetTimers();
  forgetRejections();
}

/** Notes what a stand-in for a built-in refused. */
export function noteLack(builtin: string): void {
  lacks = builtin;
}

export { settle };

function findTool(key: string): Tool & { readonly handler: (...args: unknown[]) => unknown } {
  const tool = key === 'default' ? (plugin as Tool | undefined) : key.includes(':') ? findOffering(plugin, key) : findNamed(key);
  if (!isCallable(tool)) throw new TypeError(`the plugin has no handler for "${key}"`);
  return tool;
}

function findNamed(key: string): Tool | undefined {
  return (plugin?.tools as Record<string, Tool> | undefined)?.[key];
}

function isCallable(tool: Tool | undefined): tool is ReturnType<typeof findTool> {
  return typeof tool?.handler === 'function';
}

function run(tool: ReturnType<typeof findTool>, args: unknown): unknown {
  const onStart = started ? undefined : plugin?.onStart;
  started = true;
  if (typeof onStart !== 'function') return call.call(tool.handler, tool, args, context);
  const handle = () => call.call(tool.handler, tool, args, context);
  return promiseThen.call(GuestPromise.resolve(onStart.call(plugin, context)), handle);
}

function checkOutput(schema: unknown, result: unknown): unknown {
  if (schema === undefined || schema === null) return result;
  const check = (value: unknown) => parseWith(schema, value, 'output-invalid', (checked) => checked);
  return isThenable(result) ? promiseThen.call(GuestPromise.resolve(result), check) : check(result);
}

/** Runs `start`, waits for what it returns, then reports. Exceptions of every kind end as a `throw` report. */
function finish(start: () => unknown, report: (result: unknown) => unknown): void {
  const guarded = (result: unknown): void => {
    try {
      const reporting = report(result);
      if (isThenable(reporting)) promiseThen.call(reporting as Promise<unknown>, undefined, sendThrown);
    } catch (error) {
      sendThrown(error);
    }
  };
  try {
    const result = start();
    if (!isThenable(result)) {
      guarded(result);
      return;
    }
    promiseThen.call(GuestPromise.resolve(result), guarded, sendThrown);
  } catch (error) {
    sendThrown(error);
  }
}

function isThenable(value: unknown): boolean {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}

const convertTools: ConvertTools = {
  get outputBytes() {
    return factsOfCall().outputBytes;
  },
  warn: (text) => warn('warn', text),
  tellPart: (done, message) => tell('progress', stringify({ done, message })),
  refuse: (code, message) => new GuestRefusal(code, message),
};

function sendResult(result: unknown): unknown {
  const written = writeResult(result, convertTools);
  if (typeof written === 'string') return sendText(written);
  return promiseThen.call(written, (text) => sendText(String(text)));
}

/** The host measures every output: what is long is not even copied to it. */
function sendText(text: string): void {
  if (text.length <= maxUnlookedText || text.length <= factsOfCall().outputBytes) tellEnd('return', text);
  else
    sendThrown(
      new GuestRefusal(
        'output-exceeded',
        `The output has ${text.length} characters as JSON; the limit is ${factsOfCall().outputBytes} bytes.`,
      ),
    );
}

function sendThrown(thrown: unknown): void {
  const report = describeThrown(thrown);
  tellEnd('throw', stringify(lacks === undefined ? report : { ...report, lacks }));
}

function describeThrown(thrown: unknown): object {
  if (thrown instanceof GuestRefusal) return thrown;
  try {
    const error = thrown as { name?: unknown; message?: unknown; stack?: unknown; code?: unknown };
    return typeof thrown === 'object' && thrown !== null
      ? {
          name: text(error.name, 100),
          // What is no Error may say something all the same, such as { code: 42 }.
          message: text(withReasons(thrown as Thrown) ?? stringify(thrown), 4000),
          stack: text(error.stack, 8000),
          code: text(error.code, 100),
          isObject: true,
        }
      : { message: text(thrown, 4000) ?? 'undefined' };
  } catch {
    return { message: 'The handler threw a value that cannot be read.' };
  }
}

interface Thrown {
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** The message with those of the errors behind it, where it does not say them already. */
function withReasons(error: Thrown, depth = 0): string | undefined {
  const message = text(error.message, 4000);
  if (depth > 3) return message;
  const many = error instanceof AggregateError && Array.isArray(error.errors) ? error.errors.slice(0, 5) : [];
  const behind: unknown[] = error.cause === undefined ? many : [...many, error.cause];
  const reasons = behind
    .map((each) => (typeof each === 'object' && each !== null ? withReasons(each, depth + 1) : text(each, 1000)))
    .filter((reason) => reason && !message?.includes(reason));
  return reasons.length === 0 ? message : `${message?.replace(/\.$/, '') || 'It failed'} (${reasons.join('; ')})`;
}

function tellEnd(kind: 'return' | 'throw', payload: string): void {
  tellRejections();
  tell(kind, payload);
}

function text(value: unknown, maxLength: number): string | undefined {
  if (value === undefined) return undefined;
  const whole = typeof value === 'string' ? value : String(value);
  return whole.length > maxLength ? `${whole.slice(0, maxLength)}…` : whole;
}
