/** One value of a tool file as a tool of a plugin. */
import { clientSide } from './client-side.ts';
import { isPositional, parameterNames } from './functions.ts';
import { isRecord, setCurrent } from './late.ts';
import { toOutput } from './results.ts';
import { isStandard, toParameters } from './schemas.ts';

type Json = Record<string, unknown>;
type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

/** A tool that was recognised. */
export interface FoundTool {
  /** The name that it gives itself. */
  readonly name: string | undefined;
  /** Whose format it is written in. */
  readonly shape: string;
  readonly tool: Json;
}

/** What constructors of the stand-ins know better than the look of a tool. */
const shapes = new WeakMap<object, string>();

/** Notes whose format an object is. */
export function mark<Value extends object>(value: Value, shape: string): Value {
  shapes.set(value, shape);
  return value;
}

const workers = ['execute', 'handler', 'func', '_call', 'invoke', 'run', 'call', 'callback', 'cb', 'fn', 'function', 'action'];
const schemaKeys = [
  'inputSchema',
  'parameters',
  'schema',
  'args',
  'input_schema',
  'argsSchema',
  'paramsSchema',
  'paramsShape',
  'input',
  'params',
];
/** Keys of a plugin that mean here what they mean there. */
const ownKeys = [
  'isDangerous',
  'isSideEffect',
  'isResearch',
  'isElevated',
  'isParallelSafe',
  'tags',
  'timeoutMs',
  'examples',
  'usage',
  'idempotent',
  'retries',
];

/** Reads a tool object or an instance; undefined when it is none. */
export function readForeignTool(value: unknown): FoundTool | undefined {
  if (!isRecord(value) || Array.isArray(value) || isStandard(value)) return undefined;
  const { function: inner } = value;
  if (value.type === 'function' && isRecord(inner))
    return readForeignTool(mark({ ...inner, ...withoutType(value) }, 'OpenAI function'));
  const worker = workers.find((key) => typeof value[key] === 'function');
  const schemaKey = schemaKeys.find((key) => toParameters(value[key]) !== undefined);
  const isDescribed = typeof value.description === 'string' || schemaKey !== undefined;
  if (worker === undefined || !isDescribed) return undefined;
  const name = [value.name, value.id, value.toolName].find((each) => typeof each === 'string');
  const shape = shapes.get(value) ?? nameShape(value, worker, schemaKey);
  const described = describe(value);
  const parameters = schemaKey === undefined ? undefined : toParameters(value[schemaKey]);
  const takesText = parameters === undefined && shape === 'LangChain';
  const own = Object.fromEntries(ownKeys.flatMap((key) => (value[key] === undefined ? [] : [[key, value[key]]])));
  return {
    name: typeof name === 'string' ? name : undefined,
    shape,
    tool: {
      ...own,
      ...described,
      ...listUnread(value, { ...described, parameters }),
      ...(takesText ? { parameters: oneText } : parameters === undefined ? {} : { parameters }),
      ...readHints(value),
      handler: makeHandler(value[worker] as AnyFunction, { owner: value, shape, takesText }),
    },
  };
}

const oneText = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };

function withoutType({ type: _type, function: _function, ...rest }: Json): Json {
  return rest;
}

function nameShape(value: Json, worker: string, schemaKey: string | undefined): string {
  if (typeof value.label === 'string' && worker === 'execute') return 'pi';
  if (schemaKey === 'inputSchema') return worker === 'execute' ? 'AI SDK' : 'MCP';
  if (schemaKey === 'args') return 'opencode';
  if (schemaKey === 'input_schema') return 'Anthropic';
  if (worker === 'func' || worker === '_call' || worker === 'invoke') return 'LangChain';
  if (schemaKey === 'parameters' && worker === 'execute') return typeof value.name === 'string' ? 'OpenAI Agents' : 'AI SDK';
  return 'tool object';
}

function describe(value: Json): Json {
  const annotations = isRecord(value.annotations) ? value.annotations : {};
  const text = [value.description, value.title, annotations.title, value.label].find(
    (each) => typeof each === 'string' && each !== '',
  );
  return typeof text === 'string' ? { description: text.slice(0, 8192) } : {};
}

/** Keys that nobody reads, of a tool that lacks its description or its schema: one of them may be misspelt. */
function listUnread(value: Json, { description, parameters }: Json): Json {
  const lacks = [...(description === undefined ? ['description'] : []), ...(parameters === undefined ? schemaKeys : [])];
  const keys = Object.keys(value).filter((key) => !lacks.includes(key));
  return lacks.length === 0 ? {} : { $unread: { keys: keys.slice(0, 20), lacks } };
}

/** What a tool says about its own danger counts; what it says about its harmlessness changes nothing. */
function readHints(value: Json): Json {
  const annotations = isRecord(value.annotations) ? value.annotations : {};
  const asks = [value.needsApproval, value.requireApproval, value.require_approval];
  return {
    ...(annotations.destructiveHint === true || asks.some((each) => each === true || typeof each === 'function')
      ? { isDangerous: true }
      : {}),
    ...(annotations.idempotentHint === true ? { idempotent: true } : {}),
  };
}

/** How a function of some shape is called with what a plugin's handler gets. */
export function makeHandler(
  fn: AnyFunction,
  { owner, shape, takesText = false }: { readonly owner: unknown; readonly shape: string; readonly takesText?: boolean },
): AnyFunction {
  const names = parameterNames(fn);
  return async function handler(args: unknown, context: unknown) {
    setCurrent(context);
    const facts = isRecord(context) ? context : {};
    const given: Json = isRecord(args) ? args : {};
    return toOutput(await fn.apply(owner, listArguments(given, makeExtra(facts))));
  };

  function listArguments(args: Json, extra: Json): unknown[] {
    if (takesText) return [args.input, extra];
    if (shape === 'pi' || /^_?(?:toolCallId|callId|id)$/.test(names[0] ?? '')) {
      const update = () => undefined;
      const isOld = /onUpdate/.test(names[2] ?? '');
      return isOld
        ? [extra.toolCallId, args, update, extra, extra.signal]
        : [extra.toolCallId, args, extra.signal, update, extra];
    }
    if (shape === 'Mastra' && /^[^(]*\(\s*\{\s*[^}]*\bcontext\b/.test(String(fn))) return [{ ...extra, context: args }, extra];
    if (shape === 'function' && isPositional(names, args)) return names.map((name) => args[name]);
    return [args, extra];
  }
}

/** The context of the plugin with what the second argument of other shapes holds. */
export function makeExtra(context: Json): Json {
  const { executionId, signal, session } = context;
  const nothing = async () => undefined;
  return Object.assign(Object.create(context) as Json, {
    toolCallId: executionId,
    callId: executionId,
    requestId: executionId,
    abortSignal: signal,
    abort: signal,
    messages: [],
    sessionID: isRecord(session) ? session.id : undefined,
    directory: '/',
    worktree: '/',
    cwd: '/',
    hasUI: false,
    metadata: nothing,
    sendNotification: nothing,
    reportProgress: nothing,
    streamContent: nothing,
    ...clientSide,
  });
}
