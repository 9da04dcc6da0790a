import { openaiFacts } from '../openai-shapes.ts';
import type { WireFormat } from '../wire-format.ts';
import { readChatAnswer, readChatUsage, writeChatAnswer } from './answer.ts';
import { readChatRequest, writeChatRequest } from './request.ts';
import { createChatStreamReader, createChatStreamWriter } from './stream.ts';

/** OpenAI Chat Completions, and the servers that are compatible with it. */
export const openaiChat: WireFormat = {
  ...openaiFacts,
  name: 'openai-chat',
  boundNames: ['max_tokens', 'max_completion_tokens'],
  usageOptions: { field: 'stream_options', flag: 'include_usage' },
  endMark: /\[DONE\]|"finish_reason":\s*"|"error":/,
  keepsSeals: 'of-none',
  hasOneText: true,
  pathOf: () => '/chat/completions',
  readUsage: readChatUsage,
  readRequest: readChatRequest,
  writeRequest: writeChatRequest,
  readAnswer: readChatAnswer,
  writeAnswer: writeChatAnswer,
  createStreamReader: createChatStreamReader,
  createStreamWriter: createChatStreamWriter,
};
