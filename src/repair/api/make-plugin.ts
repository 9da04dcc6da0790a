import { Worker } from 'node:worker_threads';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { createSlots } from '../../queues/slots.ts';
import type { ApiWish } from './read-operations.ts';

/** A plugin that was made from a description. */
export interface MadePlugin {
  readonly text: string;
  /** What a person is to know: secrets to set, operations that were left out. */
  readonly notes: readonly string[];
}

/** What is made of a text. */
export interface MakeOrder extends ApiWish {
  readonly text: string;
}

/** What the thread answers. */
export type MakeAnswer =
  | { readonly ok: true; readonly plugin: MadePlugin }
  | { readonly ok: false; readonly message: string; readonly fix: string };

/** Makes the plugin of an API. Rejects with `api-description-invalid`. */
export type MakePlugin = (order: MakeOrder) => Promise<MadePlugin>;

const workerFile = new URL(import.meta.url.endsWith('.ts') ? './make-thread.ts' : './make-thread.js', import.meta.url);
const resourceLimits = { maxOldGenerationSizeMb: 384, maxYoungGenerationSizeMb: 32 };

/** Creates the maker: each description has a thread of its own, of bounded memory, for `maxMs`: it may be made to be slow or huge. */
export function createPluginMaker({ maxMs }: { readonly maxMs: number }): MakePlugin {
  const slots = createSlots(1);
  return (order) => slots.run(() => makeInWorker(order, maxMs));
}

async function makeInWorker(order: MakeOrder, maxMs: number): Promise<MadePlugin> {
  const worker = new Worker(workerFile, {
    workerData: order,
    resourceLimits,
    env: {},
    argv: [],
    stdin: false,
    stdout: true,
    stderr: true,
  });
  const ended = Promise.withResolvers<MakeAnswer>();
  const fail = (message: string) => ended.resolve({ ok: false, message, fix: '' });
  worker.once('message', (answer: MakeAnswer) => ended.resolve(answer));
  worker.once('error', () => fail('It is too large or too deep to be read.'));
  worker.once('exit', () => fail('Reading it ended early.'));
  const timer = setTimeout(() => fail(`It could not be read within ${maxMs} ms.`), maxMs);
  try {
    const answer = await ended.promise;
    if (answer.ok) return answer.plugin;
    const { message, fix } = answer;
    throw new HotcellError(
      'api-description-invalid',
      `The description of the API is not taken: ${message}`,
      fix === '' ? {} : { fix },
    );
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
