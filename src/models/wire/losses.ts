import { isObject } from '../../config/json-object.ts';
import type { JsonObject, Kept } from '../../conversation/conversation.ts';

/** What a writer had to leave out, a sentence each. */
export interface Losses {
  /** `what` has no place in the format: nothing is written in its place. */
  note(what: string): undefined;
  /** Something that only one format knows: as it came, or nothing where this is another. */
  takeNative(what: string, native: { readonly format: string; readonly value: JsonObject }): JsonObject | undefined;
  /** Another sentence. */
  tell(sentence: string): void;
  /** Tells of what other formats said beyond the neutral shapes. */
  noteKept(thing: { readonly kept?: Kept | undefined }, where: string): void;
  readonly list: readonly string[];
}

/** What names things within one format and means nothing in another. */
const bookkeeping = new Set([
  ...['id', 'item', 'status', 'created', 'created_at', 'completed_at', 'object', 'role', 'index', 'type', 'output', 'background'],
  ...['total_tokens', 'totalTokenCount', 'obfuscation', 'stream_options', 'max_completion_tokens', 'responseId', 'createTime'],
  ...['thinking', 'output_config', 'reasoning', 'thinkingConfig', 'responseSchema', 'parameters'],
]);

/** Creates the list of one writer. The same is told once. */
export function createLosses(format: string): Losses {
  const sentences = new Set<string>();
  const losses: Losses = {
    note: (what) => void sentences.add(`${what} cannot be expressed in the wire format ${format} and was left out.`),
    takeNative: (what, { format: from, value }) =>
      from === format
        ? value
        : losses.note(`${what} "${typeof value.type === 'string' ? value.type : (Object.keys(value)[0] ?? '')}" of ${from}`),
    tell: (sentence) => void sentences.add(sentence),
    noteKept({ kept = {} }, where) {
      for (const [other, fields] of Object.entries(kept)) {
        if (other === format) continue;
        for (const [name, value] of Object.entries(fields)) {
          if (!bookkeeping.has(name) && !isEmpty(value)) losses.note(`"${name}" (${where}, ${other})`);
        }
      }
    },
    get list() {
      return [...sentences];
    },
  };
  return losses;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '' || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.values(value).every(isEmpty);
}
