import { openaiFacts } from '../openai-shapes.ts';
import type { WireFormat } from '../wire-format.ts';
import { readResponsesAnswer, readResponsesUsage, writeResponsesAnswer } from './answer.ts';
import { readResponsesRequest, writeResponsesRequest } from './request.ts';
import { createResponsesStreamReader } from './stream-reader.ts';
import { createResponsesStreamWriter } from './stream-writer.ts';

/** OpenAI Responses, and Open Responses. */
export const openaiResponses: WireFormat = {
  ...openaiFacts,
  name: 'openai-responses',
  boundNames: ['max_output_tokens'],
  endMark: /"response\.(?:completed|incomplete|failed)"|"error"/,
  keepsSeals: 'of-reasoning',
  pathOf: () => '/responses',
  readUsage: readResponsesUsage,
  readRequest: readResponsesRequest,
  writeRequest: writeResponsesRequest,
  readAnswer: readResponsesAnswer,
  writeAnswer: writeResponsesAnswer,
  createStreamReader: createResponsesStreamReader,
  createStreamWriter: createResponsesStreamWriter,
};
