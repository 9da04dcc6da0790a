/** `process`, as far as packages for Node look at it: facts that are the same everywhere, and the environment that was granted. */
import { askNow, console, performance, queueMicrotask, TextDecoder } from '../base.ts';
import { createEnvironment } from '../environment.ts';

/** The Node whose built-ins the shims follow. */
const version = 'v24.0.0';

export const process: Record<string, unknown> = {
  title: 'hotcell',
  version,
  versions: { node: version.slice(1), hotcell: '0' },
  release: { name: 'hotcell' },
  platform: 'linux',
  arch: 'wasm32',
  pid: 1,
  ppid: 0,
  argv: ['/hotcell', '/plugin/index.js'],
  argv0: 'hotcell',
  execArgv: [],
  execPath: '/hotcell',
  exitCode: undefined,
  features: {},
  config: { variables: {} },
  env: createEnvironment(askNow),
  stdin: undefined,
  stdout: createOutput('info', 1),
  stderr: createOutput('error', 2),
  cwd: () => '/',
  umask: () => 0o22,
  uptime: () => performance.now() / 1000,
  hrtime: Object.assign(readHighResolution, { bigint: () => BigInt(Math.round(performance.now() * 1e6)) }),
  memoryUsage: Object.assign(() => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }), { rss: () => 0 }),
  cpuUsage: () => ({ user: 0, system: 0 }),
  nextTick: (callback: (...args: unknown[]) => void, ...args: unknown[]) => queueMicrotask(() => callback(...args)),
  emitWarning: (warning: unknown) => console.warn(String(warning)),
  getuid: () => 1000,
  getgid: () => 1000,
  geteuid: () => 1000,
  getegid: () => 1000,
  emit: () => false,
  listeners: () => [],
  listenerCount: () => 0,
  eventNames: () => [],
  getMaxListeners: () => 10,
  getBuiltinModule: () => undefined,
  exit: (code: unknown) =>
    refuse('exit', `The plugin wanted to end with exit code ${String(code ?? 0)}: throw an error instead.`),
  abort: () => refuse('abort', 'Throw an error instead.'),
  kill: () => refuse('kill', 'There are no other processes.'),
  chdir: () => refuse('chdir', 'Paths of context.files begin at the workspace of the caller.'),
  binding: () => refuse('binding', "There are no parts of Node's own inside."),
  dlopen: () => refuse('dlopen', "Native add-ons run in the engine docker: write engine: 'docker'."),
};

// Listeners for the end of a process are kept by many packages; here nothing ever calls them.
for (const name of [
  'on',
  'once',
  'off',
  'addListener',
  'removeListener',
  'removeAllListeners',
  'prependListener',
  'setMaxListeners',
])
  process[name] = () => process;

/** Whole lines go to the log of the call; the rest waits for its end of line, or the next write. */
function createOutput(level: 'info' | 'error', fd: number): Record<string, unknown> {
  const stream: Record<string, unknown> = {
    fd,
    isTTY: false,
    writable: true,
    columns: 80,
    write(text: unknown, encoding?: unknown, callback?: unknown) {
      const line = typeof text === 'string' ? text : new TextDecoder().decode(text as Uint8Array);
      if (line.trim() !== '') console[level](line.replace(/\r?\n$/, ''));
      const done = typeof encoding === 'function' ? encoding : callback;
      if (typeof done === 'function') queueMicrotask(() => done());
      return true;
    },
    end: (text?: unknown) => (text === undefined ? undefined : (stream.write as (text: unknown) => void)(text)),
    getColorDepth: () => 1,
    hasColors: () => false,
    getWindowSize: () => [80, 24],
    listeners: () => [],
    listenerCount: () => 0,
    emit: () => false,
  };
  for (const name of ['on', 'once', 'off', 'addListener', 'removeListener', 'removeAllListeners', 'cork', 'uncork'])
    stream[name] = () => stream;
  return stream;
}

function readHighResolution(since?: readonly [number, number]): [number, number] {
  const now = performance.now() * 1e6;
  const [seconds, nanos] = [Math.floor(now / 1e9), Math.floor(now % 1e9)];
  if (!since) return [seconds, nanos];
  const borrowed = nanos < since[1];
  return [seconds - since[0] - (borrowed ? 1 : 0), nanos - since[1] + (borrowed ? 1e9 : 0)];
}

function refuse(name: string, instead: string): never {
  throw Object.assign(new Error(`process.${name}() is refused: a plugin is no process of its own. ${instead}`), {
    code: 'not-supported',
  });
}
