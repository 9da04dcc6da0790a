/** The `context` that a handler gets: thin calls over the border, each checked again by the host. */
import { ask, askNow, tell } from './border.ts';

/** What the host says about the call. */
export interface CallFacts {
  readonly executionId: string;
  readonly caller: string;
  readonly session: string;
  readonly outputBytes: number;
  readonly seed: readonly [number, number, number];
}

const { parse, stringify } = JSON;

let factsJson = '';
let facts: CallFacts | undefined;
let signal: unknown;

/** A cell runs one call at a time: the context is part of the image, and only what it says of the call changes. `json` are CallFacts. */
export function setFacts(json: string): void {
  factsJson = json;
  facts = undefined;
  signal = undefined;
}

/** Most calls ask for none of them, so they are read when one is asked for. */
export function factsOfCall(): CallFacts {
  facts ??= parse(factsJson) as CallFacts;
  return facts;
}

/** What every handler gets as its second argument. */
export function createContext(): Record<string, unknown> {
  const log = createLog();
  return {
    log,
    logger: log,
    config: refuseOthers('config', { get: getSetting }),
    env: refuseOthers('env', { get: (name: string) => readNow('env.get', name) }),
    kv: refuseOthers('kv', {
      get: (key: string) => request('kv.get', { key }),
      set: (key: string, value: unknown) => request('kv.set', { key, value }),
      delete: (key: string) => request('kv.delete', { key }),
      list: (options: object = {}) => request('kv.list', options),
    }),
    files: refuseOthers('files', createFiles()),
    fetch: (...args: unknown[]) => (globalThis as unknown as { fetch: (...args: unknown[]) => unknown }).fetch(...args),
    tools: refuseOthers('tools', {
      call: (name: string, args: unknown = {}, options: object = {}) => request('tools.call', { name, arguments: args, options }),
      list: () => request('tools.list', {}),
    }),
    llm: refuseOthers('llm', {
      generate: (options: unknown) => request('llm.generate', typeof options === 'string' ? { prompt: options } : options),
    }),
    run: runCommand,
    confirm: (question: string) => request('confirm', { question }),
    ask: (form: object) => request('ask', form),
    client: refuseOthers('client', {
      createMessage: (params: unknown) => request('client.createMessage', { params }),
      listRoots: () => request('client.listRoots', {}),
    }),
    resources: refuseOthers('resources', { changed: (uri: string) => request('resources.changed', { uri: String(uri) }) }),
    skill: (name: string) => request('skill', { name }),
    agent: refuseAll('agent'),
    browser: refuseAll('browser'),
    progress: (done: number, total?: number, message?: string) => tell('progress', stringify({ done, total, message })),
    session: {
      get id() {
        return factsOfCall().session;
      },
    },
    caller: {
      get id() {
        return factsOfCall().caller;
      },
    },
    get executionId() {
      return factsOfCall().executionId;
    },
    get signal() {
      signal ??= createSignal();
      return signal;
    },
  };
}

/** With a fallback a value that may not be read is as good as missing. */
function getSetting(key: string, fallback?: unknown): unknown {
  try {
    return readNow('config.get', key) ?? fallback;
  } catch (error) {
    if (fallback === undefined) throw error;
    return fallback;
  }
}

function createSignal(): unknown {
  const Controller = (globalThis as { AbortController?: new () => { signal: unknown } }).AbortController;
  return Controller ? new Controller().signal : undefined;
}

function createLog(): Record<string, (...values: unknown[]) => void> {
  const log: Record<string, (...values: unknown[]) => void> = {};
  for (const level of ['debug', 'info', 'warn', 'error']) {
    log[level] = (...values) =>
      (globalThis as unknown as { console: Record<string, (...values: unknown[]) => void> }).console[level]?.(...values);
  }
  return log;
}

function createFiles(): Record<string, unknown> {
  return {
    read: async (path: string, options: object = {}) => (await request('files.read', { ...options, path, as: 'text' })).text,
    readBytes: async (path: string, options: object = {}) => {
      const answer = await ask('files.read', stringify({ ...options, path, as: 'bytes' }));
      return new Uint8Array(answer.body ?? new ArrayBuffer(0));
    },
    write: (path: string, content: unknown) => sendContent('files.write', path, content),
    append: (path: string, content: unknown) => sendContent('files.append', path, content),
    list: (path = '.', options: object = {}) => request('files.list', { ...options, path }),
    stat: (path: string) => request('files.stat', { path }),
    exists: (path: string) => request('files.exists', { path }),
    delete: (path: string, options: object = {}) => request('files.delete', { ...options, path }),
    mkdir: (path: string) => request('files.mkdir', { path }),
  };
}

/** Bytes go beside the question, and come back beside the answer. */
async function runCommand(command: string, args: unknown = [], options: Record<string, unknown> = {}): Promise<unknown> {
  const { stdin, ...others } = options;
  const bytes = ArrayBuffer.isView(stdin)
    ? (stdin.buffer.slice(stdin.byteOffset, stdin.byteOffset + stdin.byteLength) as ArrayBuffer)
    : stdin instanceof ArrayBuffer
      ? stdin
      : undefined;
  const text = bytes === undefined && stdin !== undefined ? { stdin: String(stdin) } : {};
  const answer = await ask('run', stringify({ command, args, options: { ...others, ...text } }), bytes);
  const result = parse(answer.payload);
  if (others.as === 'bytes') result.stdout = new Uint8Array(answer.body ?? new ArrayBuffer(0));
  return result;
}

async function sendContent(op: string, path: string, content: unknown): Promise<unknown> {
  if (ArrayBuffer.isView(content)) {
    const bytes = content.buffer.slice(content.byteOffset, content.byteOffset + content.byteLength) as ArrayBuffer;
    return parse((await ask(op, stringify({ path }), bytes)).payload);
  }
  if (content instanceof ArrayBuffer) return parse((await ask(op, stringify({ path }), content)).payload);
  return request(op, { path, text: String(content) });
}

/**
 * Members that other systems hand out whole; here each use is one refusal that names it: a call and an await reject, what
 * needs a value at once throws.
 */
function refuseAll(path: string): unknown {
  return new Proxy(() => {}, {
    get: (_target, member) => {
      if (member === 'then') return (resolve: Settle, reject: Settle) => request(path, {}).then(resolve, reject);
      if (typeof member === 'string' && member !== 'toJSON' && member !== 'toString') return refuseAll(`${path}.${member}`);
      return () => {
        throw Object.assign(new Error(`context.${path} is not part of this version.`), { code: 'not-supported' });
      };
    },
    apply: (_target, _this, args: unknown[]) => request(path, { args }),
  });
}

/** What a part of the context does not have is refused by its name, never `not a function`. */
function refuseOthers(name: string, members: Record<string, unknown>): Record<string, unknown> {
  const others = new Proxy(Object.prototype, {
    get: (target, member) =>
      typeof member === 'symbol' || member === 'then' || member === 'toJSON' || member in target
        ? Reflect.get(target, member)
        : refuseAll(`${name}.${member}`),
  });
  return Object.setPrototypeOf(members, others) as Record<string, unknown>;
}

type Settle = (value: unknown) => unknown;

// biome-ignore lint/suspicious/noExplicitAny: answers of the host are plain JSON whose shape each caller knows
async function request(op: string, payload: unknown): Promise<any> {
  return parse((await ask(op, stringify(payload) ?? 'null')).payload);
}

function readNow(op: string, key: string): unknown {
  const answer = askNow(op, String(key));
  return typeof answer === 'string' ? parse(answer) : undefined;
}
