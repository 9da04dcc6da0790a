/**
 * What the host calls in the guest: `load` once before the image is frozen, `enter` and `settle` in every call. All of
 * them report through the border, so the host needs no other handle into the guest.
 */
import { forgetWaiting, settle, tell } from './border.ts';
import { seedRandom } from './clock.ts';
import { type CallFacts, createContext, setFacts } from './context.ts';
import { describeExports, findPlugin } from './describe.ts';
import { forgetTimers } from './web/timers.ts';

type Handler = (args: unknown, context: unknown) => unknown;

const { parse, stringify } = JSON;
const GuestPromise = Promise;
const promiseThen = Promise.prototype.then;
const call = Function.prototype.call;

let plugin: Record<string, unknown> | undefined;
let namespace: unknown;
let started = false;
const context = createContext();

/** Takes the evaluated bundle's exports, runs `onLoad` and reports the manifest as data (`loaded`) or what it threw. */
export function load(fileBase: string): void {
  const holder = globalThis as { __hotcellExports?: unknown };
  namespace = holder.__hotcellExports;
  delete holder.__hotcellExports;
  finish(
    () => {
      plugin = findPlugin(namespace, fileBase);
      const onLoad = plugin?.onLoad;
      return typeof onLoad === 'function' ? onLoad.call(plugin) : undefined;
    },
    () => tell('loaded', describeExports(namespace)),
  );
}

/** Starts one call. `argumentsJson` is validated by the host; `factsJson` are CallFacts. */
export function enter(argumentsJson: string, factsJson: string): void {
  const facts = parse(factsJson) as CallFacts;
  seedRandom(facts.seed);
  setFacts(facts);
  finish(
    () => {
      const handler = findHandler(facts.handler);
      const onStart = started ? undefined : plugin?.onStart;
      started = true;
      if (typeof onStart !== 'function') return handler(parse(argumentsJson), context);
      return promiseThen.call(GuestPromise.resolve(onStart.call(plugin, context)), () => handler(parse(argumentsJson), context));
    },
    (result) => sendResult(result, facts.outputBytes),
  );
}

/** Calls a hook by name with one JSON argument and reports its result like a handler's. */
export function runHook(hook: string, argumentJson: string, factsJson: string): void {
  const facts = parse(factsJson) as CallFacts;
  seedRandom(facts.seed);
  setFacts(facts);
  finish(
    () => {
      const target = plugin?.[hook];
      if (typeof target !== 'function') throw new TypeError(`the plugin has no ${hook}`);
      return target.call(plugin, argumentJson === '' ? undefined : parse(argumentJson), context);
    },
    (result) => sendResult(result, facts.outputBytes),
  );
}

/** Readies a cell that lives longer than one call for the next one. */
export function endCall(): void {
  forgetWaiting();
  forgetTimers();
}

export { settle };

function findHandler(key: string): Handler {
  const tools = plugin?.tools as Record<string, { handler?: unknown }> | undefined;
  const owner = key === 'default' ? plugin : tools?.[key];
  const handler = owner?.handler;
  if (typeof handler !== 'function') throw new TypeError(`the plugin has no handler for "${key}"`);
  return (args, context) => call.call(handler, owner, args, context);
}

/** Runs `start`, waits for what it returns, then reports. Exceptions of every kind end as a `throw` report. */
function finish(start: () => unknown, report: (result: unknown) => void): void {
  const guarded = (result: unknown): void => {
    try {
      report(result);
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

function sendResult(result: unknown, outputBytes: number): void {
  const text = stringify(result) ?? 'null';
  if (text.length > outputBytes) {
    tell(
      'throw',
      stringify({
        code: 'output-exceeded',
        message: `The output has ${text.length} characters as JSON; the limit is ${outputBytes} bytes.`,
      }),
    );
    return;
  }
  tell('return', text);
}

function sendThrown(thrown: unknown): void {
  let report: Record<string, unknown>;
  try {
    const error = thrown as { name?: unknown; message?: unknown; stack?: unknown; code?: unknown };
    report =
      typeof thrown === 'object' && thrown !== null
        ? {
            name: text(error.name, 100),
            // What is no Error may say something all the same, such as { code: 42 }.
            message: text(error.message ?? stringify(thrown), 4000),
            stack: text(error.stack, 8000),
            code: text(error.code, 100),
            isObject: true,
          }
        : { message: text(thrown, 4000) ?? 'undefined' };
  } catch {
    report = { message: 'The handler threw a value that cannot be read.' };
  }
  tell('throw', stringify(report));
}

function text(value: unknown, maxLength: number): string | undefined {
  if (value === undefined) return undefined;
  const whole = typeof value === 'string' ? value : String(value);
  return whole.length > maxLength ? `${whole.slice(0, maxLength)}…` : whole;
}
