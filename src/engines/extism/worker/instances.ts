import { createPlugin, type Plugin } from '@extism/extism';
import { BoundedMap } from '../../../collections/bounded-map.ts';
import { extismNamespace, userNamespace, wasiNamespace } from '../module/module-contract.ts';
import type { CallState } from './call-state.ts';
import { GuestFault } from './guest-fault.ts';
import { BlockBudget, createHostFunctions } from './host-functions.ts';
import { createUserFunctions } from './user-functions.ts';
import { createWasi } from './wasi.ts';
import { keptModules, type ModuleCall } from './worker-messages.ts';

/** A module that this worker has, with what it imports. */
interface KnownModule {
  readonly key: string;
  readonly module: WebAssembly.Module;
  readonly imports: readonly WebAssembly.ModuleImportDescriptor[];
  /** The shortest time that making an instance took, in ms. */
  shortestMs: number;
  /** No instance could be made before a call was known. */
  needsCall: boolean;
}

/** An instance that no call has used. */
export interface FreshInstance {
  /** Tells it which call it serves; nothing that it imports answers before. */
  bind(state: CallState): void;
  /** Runs an export. Rejects with what the guest or a host function threw. */
  run(exportName: string, input: string): Promise<void>;
  /** Bytes that its memory has; 0 when it exports none. */
  memoryBytes(): number;
  close(): Promise<void>;
}

// What is made ahead runs under no limit, so it must be known to be short. Before a call is known a module can read neither the
// clock nor anything else, so making it takes as long as it took before.
const maxPreparationMs = 1;

/**
 * Instances, one for every call, so that nothing is left over for the next. Keeps the modules of one worker, which the pool sends
 * once and counts along.
 */
export function createInstances() {
  const known = new BoundedMap<string, KnownModule>(keptModules);
  let spare: { readonly of: KnownModule; readonly instance: Promise<FreshInstance | undefined> } | undefined;

  const findModule = ({ moduleKey, module }: ModuleCall): KnownModule => {
    const found = module
      ? {
          key: moduleKey,
          module,
          imports: WebAssembly.Module.imports(module),
          shortestMs: Number.POSITIVE_INFINITY,
          needsCall: false,
        }
      : known.get(moduleKey);
    if (!found) throw new Error('the worker does not have the module');
    if (module) known.set(moduleKey, found);
    return found;
  };

  return {
    /** One for this call: the one made ahead if there is one for its module. Rejects as instantiation does. */
    async take(call: ModuleCall): Promise<FreshInstance> {
      const module = findModule(call);
      const ahead = spare;
      spare = undefined;
      const ready = await ahead?.instance;
      if (ahead && ahead.of === module && ready) return ready;
      await ready?.close();
      const startedMs = performance.now();
      const instance = await makeInstance(module, call.bounds.memoryBytes);
      module.shortestMs = Math.min(module.shortestMs, performance.now() - startedMs);
      return instance;
    },
    /** Makes one ahead for a further call of the same module, while the thread has nothing else to do. */
    prepare(call: ModuleCall): void {
      const module = known.get(call.moduleKey);
      if (!module || module.needsCall || module.shortestMs > maxPreparationMs || spare) return;
      const instance = makeInstance(module, call.bounds.memoryBytes).catch(() => {
        module.needsCall = true;
        return undefined;
      });
      spare = { of: module, instance };
    },
  };
}

async function makeInstance(known: KnownModule, memoryBytes: number): Promise<FreshInstance> {
  const slot: { state?: CallState; memory?: WebAssembly.Memory } = {};
  // Functions are bound before a call is known.
  const state = (): CallState => {
    if (!slot.state) throw new GuestFault('load-failed', 'The module used a host function before it was called.');
    return slot.state;
  };
  const blocks = new BlockBudget(memoryBytes);
  const plugin = await createPlugin(
    { wasm: [{ module: known.module }] },
    {
      useWasi: false,
      runInWorker: false,
      allowedHosts: [],
      functions: {
        [extismNamespace]: pick(createHostFunctions(state, blocks), listImports(known, extismNamespace)),
        [userNamespace]: pick(createUserFunctions(state, blocks), listImports(known, userNamespace)),
        [wasiNamespace]: createWasi(listImports(known, wasiNamespace), () => slot.memory?.buffer, state),
      },
    },
  );
  return {
    bind: (bound) => {
      slot.state = bound;
    },
    run: (exportName, input) => runExport(plugin, { exportName, input }, slot),
    memoryBytes: () => slot.memory?.buffer.byteLength ?? 0,
    close: () => plugin.close(),
  };
}

async function runExport(
  plugin: Plugin,
  call: Pick<ModuleCall, 'exportName' | 'input'>,
  slot: { memory?: WebAssembly.Memory },
): Promise<void> {
  const { exports } = await plugin.getInstance();
  if (exports.memory instanceof WebAssembly.Memory) slot.memory = exports.memory;
  // Libraries need their constructors run once; the SDK does it only together with its own WASI.
  if (typeof exports._initialize === 'function') exports._initialize();
  await plugin.call(call.exportName, call.input);
}

function listImports({ imports }: KnownModule, namespace: string): string[] {
  return imports.filter((entry) => entry.module === namespace).map((entry) => entry.name);
}

/** The SDK binds every function that it is given, for every instance: those that the module imports are enough. */
function pick<Value>(functions: Readonly<Record<string, Value>>, names: readonly string[]): Record<string, Value> {
  return Object.fromEntries(Object.entries(functions).filter(([name]) => names.includes(name)));
}
