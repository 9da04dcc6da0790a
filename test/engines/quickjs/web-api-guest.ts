import type { QuickJSSyncVariant } from '@jitl/quickjs-ffi-types';
import quickJsVariant from '@jitl/quickjs-wasmfile-release-sync';
import { build } from 'esbuild';
import { newQuickJSWASMModuleFromVariant, type QuickJSContext, type QuickJSHandle } from 'quickjs-emscripten-core';
import { createHostAnswers } from '../../../src/engines/quickjs/host-answers/host-answers.ts';
import { HostRefusal } from '../../../src/engines/quickjs/host-answers/host-refusal.ts';
import { bundlePrelude } from '../../../src/guests/prelude.ts';

/** What crossed the border for an operation that settles later or needs no answer. */
export interface Crossing {
  readonly op: string;
  readonly id: number;
  readonly payload: string;
  readonly body: Uint8Array | undefined;
}

/** How a scripted host settles one crossing; undefined leaves it waiting. */
export type Script = (crossing: Crossing) => { ok: boolean; payload: string; body?: Uint8Array } | undefined;

/** A real QuickJS with the web API installed and the real host answers behind it. */
export interface WebGuest {
  /** Runs an async function body and gives what it returns, through JSON. */
  run(body: string): Promise<unknown>;
  /** Everything that was told or asked with an id, in order. */
  readonly crossings: Crossing[];
  /** Non-zero 4 KiB pages of the memory, before and after the prelude. */
  readonly pages: { readonly empty: number; readonly installed: number };
  readonly preludeBytes: number;
  close(): void;
}

// The package's types describe its CommonJS face, in which the variant lies one level deeper.
const variant = quickJsVariant as unknown as QuickJSSyncVariant;
const guestDir = new URL('../../../src/guests/cell/', import.meta.url).pathname;
const bundled = Promise.all([bundleWebApi(), bundlePrelude()]);

/** Starts a guest. Timers settle at once unless `script` says otherwise. */
export async function startWebGuest(script: Script = () => undefined): Promise<WebGuest> {
  const [prelude, { lazyModules }] = await bundled;
  const answers = createHostAnswers({ lazyModules });
  const module = await newQuickJSWASMModuleFromVariant(variant);
  const context = module.newContext();
  const crossings: Crossing[] = [];
  const due: Crossing[] = [];
  context
    .newFunction('host', (op, id, payload, body) => {
      const crossing = {
        op: context.getString(op),
        id: context.getNumber(id),
        payload: context.getString(payload),
        body: body && context.typeof(body) === 'object' ? readBuffer(context, body) : undefined,
      };
      if (crossing.op === 'clock') return context.newString('1000');
      if (crossing.op === 'env.names') return context.newString('[]');
      if (crossing.id > 0 || ['log', 'cancel'].includes(crossing.op)) {
        crossings.push(crossing);
        if (crossing.id > 0) due.push(crossing);
        return context.undefined;
      }
      return answerNow(context, answers, crossing);
    })
    .consume((host) => context.setProp(context.global, 'host', host));
  const memory = module.getWasmMemory();
  const empty = countPages(memory);
  context.unwrapResult(context.evalCode(prelude, 'prelude.js')).dispose();
  const installed = countPages(memory);

  return {
    crossings,
    pages: { empty, installed },
    preludeBytes: prelude.length,
    async run(body) {
      const source = `(async()=>{${body}\n})().then(v=>{globalThis.result=JSON.stringify({value:v})},e=>{globalThis.result=JSON.stringify({name:e?.name,message:String(e?.message),code:e?.code,stack:e?.stack})});`;
      context.unwrapResult(context.evalCode(`delete globalThis.result;${source}`, 'test.js')).dispose();
      for (;;) {
        context.unwrapResult(context.runtime.executePendingJobs());
        const result = context.getProp(context.global, 'result').consume((handle) => context.dump(handle));
        if (typeof result === 'string') return readResult(result);
        const next = due.shift();
        if (!next) throw new Error('the guest waits for nothing and has no result');
        const answer = script(next) ?? (next.op === 'timer' ? { ok: true, payload: '' } : undefined);
        if (answer) settle(context, next.id, answer);
      }
    },
    close: () => context.dispose(),
  };
}

function readResult(text: string): unknown {
  const { value, message, name, code, stack } = JSON.parse(text);
  if (message === undefined) return value;
  throw Object.assign(new Error(message), { name, code, stack });
}

function answerNow(context: QuickJSContext, answers: ReturnType<typeof createHostAnswers>, crossing: Crossing): QuickJSHandle {
  try {
    const answer = answers(crossing.op, crossing.payload, crossing.body);
    if (answer === undefined) return context.undefined;
    return typeof answer === 'string' ? context.newString(answer) : context.newArrayBuffer(new Uint8Array(answer).buffer);
  } catch (error) {
    if (error instanceof HostRefusal) throw Object.assign(new Error(error.message), { name: error.code });
    throw error;
  }
}

function settle(context: QuickJSContext, id: number, answer: { ok: boolean; payload: string; body?: Uint8Array }): void {
  const entry = context.getProp(context.global, 'settleForTest');
  const args = [context.newNumber(id), answer.ok ? context.true : context.false, context.newString(answer.payload)];
  if (answer.body) args.push(context.newArrayBuffer(new Uint8Array(answer.body).buffer));
  context.unwrapResult(context.callFunction(entry, context.undefined, ...args)).dispose();
  for (const handle of [entry, ...args]) handle.dispose();
}

function readBuffer(context: QuickJSContext, handle: QuickJSHandle): Uint8Array {
  using lifetime = context.getArrayBuffer(handle);
  return lifetime.value.slice();
}

function countPages(memory: WebAssembly.Memory): number {
  const words = new BigUint64Array(memory.buffer);
  let pages = 0;
  for (let at = 0; at < words.length; at += 512) if (words.subarray(at, at + 512).some((word) => word !== 0n)) pages++;
  return pages;
}

async function bundleWebApi(): Promise<string> {
  const contents = `
    import { settle } from './border.ts';
    import { installWebApi } from './web/install.ts';
    delete globalThis.host;
    installWebApi();
    globalThis.settleForTest = settle;`;
  const result = await build({
    stdin: { contents, resolveDir: guestDir, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'neutral',
    target: 'es2023',
    minify: true,
    tsconfigRaw: '{}',
  });
  return result.outputFiles[0]?.text ?? '';
}
