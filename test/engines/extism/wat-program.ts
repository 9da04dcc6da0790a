import createWabt from 'wabt';
import type { BorderHost, LogLine } from '../../../src/border/border.ts';
import type { Limits } from '../../../src/config/limits.ts';
import { resolveLimits } from '../../../src/config/limits.ts';
import { Deadline } from '../../../src/engines/deadline.ts';
import type { LoadRequest, RunRequest } from '../../../src/engines/engine.ts';
import { embedSidecar } from '../../../src/engines/extism/module/sidecar.ts';

/** Assembles WebAssembly text into module bytes. */
export async function assemble(text: string): Promise<Uint8Array> {
  const wabt = await createWabt();
  const module = wabt.parseWat('test.wat', text, { bulk_memory: true, threads: true, memory64: true });
  const bytes = Uint8Array.from(module.toBinary({}).buffer);
  module.destroy();
  return bytes;
}

/** Module bytes whose export `run` has this body, with a sidecar for it. */
export async function assemblePlugin(body: string, rest = ''): Promise<Uint8Array> {
  const module = await assemble(`(module ${rest} (memory (export "memory") 1) (func (export "run") (result i32) ${body}))`);
  return embedSidecar('test.wasm', module, { file: 'test.json', text: JSON.stringify({ name: 'test', export: 'run' }) });
}

let serial = 0;

/** A request to load these bytes. */
export function loadRequest(code: Uint8Array, limits: Partial<Limits> = {}): LoadRequest {
  return { key: `test-${++serial}`, label: 'test', code, limits: resolveLimits(limits) };
}

/** A request to call the handler `default` of these bytes. */
export function runRequest(code: Uint8Array, change: Partial<RunRequest> = {}): RunRequest {
  const limits = change.limits ?? resolveLimits();
  return {
    executionId: `execution-${++serial}`,
    program: {
      key: `test-${serial}`,
      label: 'test',
      readCode: async () => code,
      readImage: async () => undefined,
      saveImage: () => undefined,
    },
    handler: 'default',
    argumentsJson: '{}',
    isolation: 'call',
    cellKey: '',
    limits,
    deadline: new Deadline(limits.wallMs),
    caller: 'local',
    session: 'test',
    holder: { callerId: 'tester', unitPath: 'tried.ts', isAdmin: false },
    ...change,
  };
}

/** A border that grants nothing and keeps the log. */
export function createTestBorder(view: Partial<ReturnType<BorderHost['view']>> = {}): BorderHost & { readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  return {
    lines,
    answer: async () => ({ ok: false, code: 'permission-denied', message: 'Nothing is granted.' }),
    view: () => ({ config: {}, env: {}, denied: {}, ...view }),
    log: (line) => lines.push(line),
    progress: () => undefined,
    longWait: (operation) => (operation === 'tools.call' ? { whenFull: 'refused' } : undefined),
  };
}
