import { askThread } from '../../concurrency/ask-thread.ts';
import { createSlots } from '../../concurrency/slots.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
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
  return (order) => slots.run(() => makeInThread(order, maxMs));
}

async function makeInThread(order: MakeOrder, maxMs: number): Promise<MadePlugin> {
  const fail = (reason: string) => refuse(`${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`, '');
  const answer = await askThread<MakeAnswer>(workerFile, order, { maxMs, resourceLimits, fail });
  if (answer.ok) return answer.plugin;
  throw refuse(answer.message, answer.fix);
}

function refuse(message: string, fix: string): HotcellError {
  return new HotcellError(
    'api-description-invalid',
    `The description of the API is not taken: ${message}`,
    fix === '' ? {} : { fix },
  );
}
