import { readOpenaiFailure, writeOpenaiFailure } from '../openai-failure.ts';
import type { WireFormat } from '../wire-format.ts';
import { readChatAnswer, writeChatAnswer } from './answer.ts';
import { readChatRequest, writeChatRequest } from './request.ts';
import { createChatStreamReader } from './stream-reader.ts';
import { createChatStreamWriter } from './stream-writer.ts';

/** OpenAI Chat Completions, and the servers that are compatible with it. */
export const openaiChat: WireFormat = {
  name: 'openai-chat',
  streamType: 'text/event-stream',
  readRequest: readChatRequest,
  writeRequest: writeChatRequest,
  readAnswer: readChatAnswer,
  writeAnswer: writeChatAnswer,
  createStreamReader: createChatStreamReader,
  createStreamWriter: createChatStreamWriter,
  readFailure: readOpenaiFailure,
  writeFailure: writeOpenaiFailure,
};
