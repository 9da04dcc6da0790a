/**
 * The JavaScript half of a built module. The build evaluates this file, then the prelude of guests/cell, then the plugin,
 * and freezes the memory; in the module the adapter calls `enter` once and `leave` until it says that the call is over.
 */
import { readFacts, tellThrown } from './daemon.ts';
import { connectGuest, endTimer, host, readEnd, startCall } from './host.ts';
import { extism } from './host-calls.ts';
import { loadPart, provideParts } from './parts.ts';
import { type PositionMap, traceStack } from './trace.ts';

interface Guest {
  readonly load: (fileBase: string) => void;
  readonly enter: (argumentsJson: string, factsJson: string, handler: string) => void;
  readonly settle: (id: number, ok: boolean, payload: string, body?: ArrayBuffer) => void;
}

/** What the build knows of the plugin. */
interface Setup {
  readonly fileBase: string;
  readonly lazyModules: Readonly<Record<string, string>>;
  /** The texts of `parts`, by name. */
  readonly parts: Readonly<Record<string, string>>;
  readonly positions: PositionMap;
  /** Name and handler of each tool, in the order of the entries behind `describe` and `call`. */
  readonly tools: readonly { readonly name: string; readonly handler: string }[];
  /** What `describe` answers. */
  readonly description: string;
}

type Reply = (result: string) => string;

const { parse, stringify } = JSON;
const scope = globalThis as Record<string, unknown>;
const describeEntry = 0;
const callEntry = 1;
let guest: Guest | undefined;
let setup: Setup | undefined;
let reply: Reply = plainText;
let isDescribed = false;

/** Takes what the prelude left, before the bundle is evaluated. */
function prepare(setupJson: string): void {
  const given: Setup = parse(setupJson);
  const { load, enter, settle } = scope.__hotcellEntry as Guest;
  delete scope.__hotcellEntry;
  setup = given;
  guest = { load, enter, settle };
  provideParts(given.parts);
  connectGuest({ lazyModules: given.lazyModules, settle });
}

/** Reads the exports of the evaluated bundle. */
function load(): void {
  guest?.load(setup?.fileBase ?? '');
}

/** The failure of the load as JSON `{message, name?, stack?}`; undefined when the plugin is loaded, text when it hangs. */
function readLoad(): string {
  const end = readEnd();
  return end?.kind === 'loaded' ? '' : (end?.payload ?? stringify({ message: 'onLoad did not settle.' }));
}

function enter(index: number): void {
  isDescribed = index === describeEntry;
  if (isDescribed) return;
  const { executionId, caller, session, ...settings } = readFacts();
  startCall(settings);
  const input = extism.readInput();
  const { tool, argumentsJson } =
    index === callEntry ? readServletCall(input) : { tool: setup?.tools[index - 2], argumentsJson: input };
  reply = index === callEntry ? servletAnswer : plainText;
  if (!tool) throw new TypeError(`There is no such tool; there are ${setup?.tools.map(({ name }) => name).join(', ')}.`);
  const whole = argumentsJson.trim() === '' ? '{}' : argumentsJson;
  if (!isJson(whole)) throw new TypeError('Expected the arguments of the tool as JSON, and got other text.');
  guest?.enter(
    whole,
    stringify({ executionId, caller, session, outputBytes: Number.MAX_SAFE_INTEGER, seed: drawSeed() }),
    tool.handler,
  );
}

/** 0: the output is written, 1: an error is, 2: a timer was due and its jobs are to be run. */
function leave(): number {
  if (isDescribed) {
    extism.setOutput(setup?.description ?? '');
    return 0;
  }
  const end = readEnd();
  if (end?.kind === 'return') {
    extism.setOutput(reply(end.payload));
    return 0;
  }
  if (end) return fail(describeThrown(end.payload));
  return endTimer() ? 2 : fail('The handler waits for something that never comes: its promise cannot settle.');
}

function fail(message: string): number {
  extism.setError(message);
  return 1;
}

function readServletCall(input: string) {
  const { params } = parse(input);
  return { tool: setup?.tools.find(({ name }) => name === params?.name), argumentsJson: stringify(params?.arguments ?? {}) };
}

function drawSeed(): number[] {
  return [...new Uint32Array(extism.random(12))];
}

/** Text stays text, unless it would read as JSON: who parses the output where it parses gets the same value. */
function plainText(result: string): string {
  const value: unknown = parse(result);
  return typeof value === 'string' && !isJson(value) ? value : result;
}

function servletAnswer(result: string): string {
  return stringify({ content: [{ type: 'text', text: plainText(result) }] });
}

function isJson(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The error as text, with the places in the plugin's own files. */
function describeThrown(payload: string): string {
  const { name = 'Error', message = '', stack = '', code, isObject, issues } = parse(payload);
  const lines = setup ? traceStack(String(stack), setup.positions) : [];
  const withPlaces = (head: string) => [head, ...lines].join('\n');
  // A refusal of the prelude is no object of the plugin's, and has a code all the same.
  tellThrown({ ...((isObject || code) && { name, code, issues }), message: withPlaces(String(message)) });
  const head = !isObject || name === 'Error' ? String(message) : `${name}: ${message}`;
  return withPlaces(code === undefined || head.includes(code) ? head : `${head} (${code})`);
}

scope.host = host;
scope.__hotcellModule = { prepare, loadPart, load, readLoad, enter, leave };
