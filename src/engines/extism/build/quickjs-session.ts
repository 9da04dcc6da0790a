import { randomFillSync } from 'node:crypto';
import { extismFunctions, extismNamespace, wasiNamespace } from '../module/module-contract.ts';

/** What JavaScript threw while a module was being made. */
export class GuestThrown extends Error {
  readonly guestStack: string;

  constructor(message: string, guestStack: string) {
    super(message);
    this.name = 'GuestThrown';
    this.guestStack = guestStack;
  }
}

/** QuickJS of the runtime, running here and now, so that its memory can be frozen afterwards. */
export type QuickJsSession = Awaited<ReturnType<typeof openQuickJs>>;

/** How deep calls may nest; more would overflow the stack of a host's own thread first, which no plugin can catch. */
const stackBytes = 256 * 1024;
interface World {
  readonly now: () => number;
  readonly fill: (bytes: Uint8Array) => void;
}

const stillWorld: World = { now: () => Date.UTC(2020, 0, 1), fill: (bytes) => void bytes.fill(0x5a) };

/** Starts QuickJS in an instance of the runtime. */
export async function openQuickJs(runtime: Uint8Array<ArrayBuffer>) {
  let world = stillWorld;
  const imports = createImports(
    () => readMemory(),
    () => world,
  );
  const instance = new WebAssembly.Instance(await WebAssembly.compile(runtime), imports);
  const readMemory = () => new Uint8Array(memoryOf(instance).buffer);
  const call = (name: string, ...args: number[]): number => {
    const target = instance.exports[name];
    if (typeof target !== 'function') throw new Error(`The runtime has no ${name}: build it again.`);
    return Number(Reflect.apply(target, undefined, args));
  };
  const withText = <Result>(text: string, use: (address: number, bytes: number) => Result): Result => {
    const bytes = new TextEncoder().encode(text);
    const address = call('wasm_malloc', bytes.length + 1);
    const memory = readMemory();
    memory.set(bytes, address);
    memory[address + bytes.length] = 0;
    try {
      return use(address, bytes.length);
    } finally {
      call('wasm_free', address);
    }
  };
  const textOf = (value: number): string => {
    const size = call('wasm_malloc', 4);
    const start = call('qjs_get_string_len', value, size);
    const memory = readMemory();
    const bytes = new DataView(memory.buffer).getUint32(size, true);
    call('wasm_free', size);
    return start === 0 ? '' : new TextDecoder().decode(memory.subarray(start, start + bytes));
  };
  const takeError = (): GuestThrown => {
    const thrown = call('qjs_get_exception');
    const stack = withText('stack', (name) => call('qjs_get_prop_string', thrown, name));
    return new GuestThrown(textOf(thrown).slice(0, 4000), textOf(stack).slice(0, 8000));
  };
  const evaluate = (code: string, fileName: string): number =>
    withText(code, (address, bytes) =>
      withText(fileName, (name) => {
        const value = call('qjs_eval', address, bytes, name, 0);
        if (call('qjs_is_exception', value) !== 0) throw takeError();
        return value;
      }),
    );

  call('_initialize');
  if (call('qjs_init') !== 0) throw new Error('QuickJS of the runtime does not start.');
  call('qjs_set_max_stack_size', stackBytes);
  return {
    /** Evaluates a script and returns its value's address, which stays valid. Throws GuestThrown. */
    evaluate,
    /** The text of an expression's value. */
    readText: (expression: string): string => textOf(evaluate(expression, 'build.js')),
    runJobs(): void {
      while (call('qjs_is_job_pending') !== 0) if (call('qjs_execute_pending_job') < 0) throw takeError();
    },
    /** Gives a function of the runtime's adapter to JavaScript as a global. */
    defineHostFunction: (name: string): void =>
      withText(name, (address, bytes) => {
        const made = call('qjs_new_host_function', address, bytes, 0);
        call('qjs_set_prop_string', call('qjs_get_global'), address, made);
      }),
    collectGarbage: () => void call('qjs_run_gc'),
    memory: readMemory,
    /** Until now the clock stood still and chance was none, so that the same sources make the same bytes. */
    startWorld(): void {
      world = { now: Date.now, fill: (bytes) => void randomFillSync(bytes) };
    },
  };
}

function memoryOf({ exports: { memory } }: WebAssembly.Instance): WebAssembly.Memory {
  if (memory instanceof WebAssembly.Memory) return memory;
  throw new Error('The runtime exports no memory.');
}

/** A clock and randomness; the functions of an Extism host are there, and nothing may use them yet. */
function createImports(memory: () => Uint8Array<ArrayBuffer>, world: () => World): WebAssembly.Imports {
  const notYet = () => {
    throw new Error('The plugin used its host while it was built.');
  };
  return {
    [extismNamespace]: Object.fromEntries(extismFunctions.map((name) => [name, notYet])),
    [wasiNamespace]: {
      clock_time_get(_clock: number, _precision: bigint, address: number) {
        new DataView(memory().buffer).setBigUint64(address, BigInt(Math.trunc(world().now())) * 1_000_000n, true);
        return 0;
      },
      random_get(address: number, bytes: number) {
        world().fill(memory().subarray(address, address + bytes));
        return 0;
      },
      fd_close: () => 8,
      fd_fdstat_get: () => 8,
      fd_seek: () => 8,
      fd_write: () => 8,
    },
  };
}
