import { anthropic } from './anthropic/anthropic.ts';
import { gemini } from './gemini/gemini.ts';
import { openaiChat } from './openai-chat/openai-chat.ts';
import { openaiResponses } from './openai-responses/openai-responses.ts';
import type { WireFormat, WireFormatName } from './wire-format.ts';

/** All wire formats, by name. */
export const wireFormats: Readonly<Record<WireFormatName, WireFormat>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  anthropic,
  gemini,
};
