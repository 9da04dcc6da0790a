import type { WireFormat } from '../wire-format.ts';
import { readGeminiAnswer, writeGeminiAnswer } from './answer.ts';
import { readGeminiFailure, writeGeminiFailure } from './failure.ts';
import { readGeminiRequest, writeGeminiRequest } from './request.ts';
import { createGeminiStreamReader } from './stream-reader.ts';
import { createGeminiStreamWriter } from './stream-writer.ts';

/** Gemini `v1beta`. */
export const gemini: WireFormat = {
  name: 'gemini',
  streamType: 'text/event-stream',
  readRequest: readGeminiRequest,
  writeRequest: writeGeminiRequest,
  readAnswer: readGeminiAnswer,
  writeAnswer: writeGeminiAnswer,
  createStreamReader: createGeminiStreamReader,
  createStreamWriter: createGeminiStreamWriter,
  readFailure: readGeminiFailure,
  writeFailure: writeGeminiFailure,
};
