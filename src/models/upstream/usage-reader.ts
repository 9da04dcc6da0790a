import { isObject, readJson } from '../../config/json-object.ts';
import type { TokenUsage } from '../../conversation/answer.ts';
import type { JsonObject } from '../../conversation/conversation.ts';
import { objectIn } from '../wire/json-fields.ts';
import type { WireFormat } from '../wire/wire-format.ts';

/** A line of a stream that is longer has no usage. */
const maxLineBytes = 1024 * 1024;
const newline = 10;

/** Whether an object stands behind this key, quotation marks included: many servers say `null` in every chunk but the last. */
export function hasObject(bytes: Buffer, key: string): boolean {
  for (let at = bytes.indexOf(key); at !== -1; at = bytes.indexOf(key, at + 1)) {
    let next = at + key.length;
    while (bytes[next] === colon || bytes[next] === space) next += 1;
    if (bytes[next] === brace) return true;
  }
  return false;
}

const [colon, space, brace] = [58, 32, 123];

/** Reads lines of streams in which the word stands, or a whole answer. */
export function createUsageReader({ usageName, readUsage }: WireFormat, isStreamed: boolean) {
  const word = `"${usageName}"`;
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let counted: JsonObject = {};

  function readLine(line: Buffer): void {
    if (hasObject(line, word)) readText(line.toString('utf8').replace(/^data:\s*/, ''));
  }

  /** What is no JSON is passed on, and says nothing of its costs. */
  function readText(text: string): void {
    const value = objectIn(readJson(text));
    const usage = value[usageName] ?? objectIn(value.message)[usageName] ?? objectIn(value.response)[usageName];
    if (isObject(usage))
      counted = { ...counted, ...Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== null)) };
  }

  function keep(piece: Buffer): void {
    keptBytes += piece.length;
    if (keptBytes <= maxLineBytes || !isStreamed) kept.push(piece);
  }

  function take(): Buffer {
    const [only] = kept;
    const line = kept.length === 1 && only !== undefined ? only : Buffer.concat(kept);
    kept = [];
    keptBytes = 0;
    return line;
  }

  return {
    push(chunk: Uint8Array): void {
      let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      for (let at = isStreamed ? rest.indexOf(newline) : -1; at !== -1; at = rest.indexOf(newline)) {
        keep(rest.subarray(0, at));
        readLine(take());
        rest = rest.subarray(at + 1);
      }
      if (rest.length > 0) keep(rest);
    },
    end(): TokenUsage | undefined {
      if (isStreamed) readLine(take());
      else readText(take().toString('utf8'));
      return Object.keys(counted).length === 0 ? undefined : readUsage(counted);
    },
  };
}

const bytesPerToken = 4;

/**
 * Servers stream a token or more in each event, and what an event has around its text is as long as the shortest of them is. A whole
 * answer is taken for text.
 */
export function createAnswerGauge(isStreamed: boolean) {
  let events = 0;
  let bytes = 0;
  let shortest = Number.POSITIVE_INFINITY;
  let line = 0;
  return {
    push(chunk: Uint8Array): void {
      bytes += chunk.length;
      if (!isStreamed) return;
      const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let from = 0;
      for (let at = piece.indexOf(newline); at !== -1; at = piece.indexOf(newline, from)) {
        line += at - from;
        if (line > minEventBytes) {
          events += 1;
          shortest = Math.min(shortest, line);
        }
        line = 0;
        from = at + 1;
      }
      line += piece.length - from;
    },
    tokens(): number {
      if (!isStreamed || events === 0) return Math.ceil(bytes / bytesPerToken);
      return Math.max(events, Math.ceil((bytes - events * shortest) / bytesPerToken));
    },
  };
}

/** `data: [DONE]`, names of events and comments are no events. */
const minEventBytes = 48;
