import type { WireFormat } from '../wire-format.ts';
import { readMessagesAnswer, writeMessagesAnswer } from './answer.ts';
import { readMessagesFailure, writeMessagesFailure } from './failure.ts';
import { readMessagesRequest, writeMessagesRequest } from './request.ts';
import { createMessagesStreamReader } from './stream-reader.ts';
import { createMessagesStreamWriter } from './stream-writer.ts';

/** Anthropic Messages. */
export const anthropic: WireFormat = {
  name: 'anthropic',
  streamType: 'text/event-stream',
  readRequest: readMessagesRequest,
  writeRequest: writeMessagesRequest,
  readAnswer: readMessagesAnswer,
  writeAnswer: writeMessagesAnswer,
  createStreamReader: createMessagesStreamReader,
  createStreamWriter: createMessagesStreamWriter,
  readFailure: readMessagesFailure,
  writeFailure: writeMessagesFailure,
};
