import type { ModelFailure, TokenUsage } from '../../conversation/answer.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { AsIsRequest, UpstreamTarget } from '../upstream.ts';
import type { WireFormat } from '../wire/wire-format.ts';
import { wireFormats } from '../wire/wire-formats.ts';
import { brokenOff, explainLostAnswer, maxAnswerBytes, tooLong, type UpstreamResponse } from './http.ts';
import { createUsageFilter } from './usage-filter.ts';
import { createAnswerGauge, createUsageReader } from './usage-reader.ts';

/** How an answer that went on as it came has ended. */
export interface AsIsEnd {
  readonly isWhole: boolean;
  /** Of the failure in its middle. */
  readonly status: number | undefined;
  readonly usage: TokenUsage | undefined;
  /** A guess for where the provider does not tell. */
  readonly answerTokens: number;
}

/** Passes an answer on piece by piece. A stream that breaks off ends with an error in its format; anything else fails. */
export async function* passOn(
  { formats: [name], isStreamed, hidesUsage }: AsIsRequest,
  response: UpstreamResponse,
  { target, signal, onEnd }: { target: UpstreamTarget; signal: AbortSignal; onEnd: (end: AsIsEnd) => void },
): AsyncGenerator<Uint8Array> {
  const format = wireFormats[name];
  const usage = createUsageReader(format, isStreamed);
  const gauge = createAnswerGauge(isStreamed);
  const filter = hidesUsage === true ? createUsageFilter() : undefined;
  const isEvents = isStreamed && String(response.headers['content-type']).includes('event-stream');
  const tail = createTail();
  let failure: ModelFailure | undefined;
  let isWhole = false;
  let bytes = 0;
  try {
    try {
      for await (const chunk of response.body) {
        bytes += chunk.length;
        if (bytes > maxAnswerBytes) throw new HotcellError('model-failed', tooLong.message);
        const passed = filter === undefined ? chunk : filter.push(chunk);
        if (passed.length > 0) yield passed;
        usage.push(chunk);
        gauge.push(chunk);
        if (isEvents) tail.push(chunk);
      }
    } catch (error) {
      if (!isEvents || signal.aborted) throw error;
      failure = error instanceof HotcellError ? tooLong : explainLostAnswer(error, target, bytes > 0);
    }
    if (failure === undefined && isEvents && !tail.has(format.endMark)) failure = brokenOff(target);
    const rest = filter?.end() ?? nothing;
    if (rest.length > 0) yield rest;
    // What was cut off in the middle of a line ends there: the error stands by itself.
    if (failure !== undefined) yield Buffer.from(`\n\n${sayFailure(format, failure)}`);
    isWhole = failure === undefined;
  } finally {
    response.destroy();
    onEnd({ isWhole, status: failure?.status, usage: usage.end(), answerTokens: gauge.tokens() });
  }
}

function sayFailure(format: WireFormat, failure: ModelFailure): string {
  return format.createStreamWriter().write({ type: 'answer-failed', failure });
}

const nothing = new Uint8Array();
const tailBytes = 16 * 1024;

/** The last pieces of a stream, at least so many bytes of them. */
function createTail() {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  return {
    push(chunk: Uint8Array): void {
      chunks.push(chunk);
      bytes += chunk.length;
      for (let first = chunks[0]; first !== undefined && bytes - first.length >= tailBytes; first = chunks[0]) {
        bytes -= first.length;
        chunks.shift();
      }
    },
    has: (mark: RegExp) => mark.test(Buffer.concat(chunks).toString('utf8')),
  };
}
