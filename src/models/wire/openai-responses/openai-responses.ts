import { readOpenaiFailure, writeOpenaiFailure } from '../openai-failure.ts';
import type { WireFormat } from '../wire-format.ts';
import { readResponsesAnswer, writeResponsesAnswer } from './answer.ts';
import { readResponsesRequest, writeResponsesRequest } from './request.ts';
import { createResponsesStreamReader } from './stream-reader.ts';
import { createResponsesStreamWriter } from './stream-writer.ts';

/** OpenAI Responses, and Open Responses. */
export const openaiResponses: WireFormat = {
  name: 'openai-responses',
  streamType: 'text/event-stream',
  readRequest: readResponsesRequest,
  writeRequest: writeResponsesRequest,
  readAnswer: readResponsesAnswer,
  writeAnswer: writeResponsesAnswer,
  createStreamReader: createResponsesStreamReader,
  createStreamWriter: createResponsesStreamWriter,
  readFailure: readOpenaiFailure,
  writeFailure: writeOpenaiFailure,
};
