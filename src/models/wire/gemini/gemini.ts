import { HotcellError } from '../../../errors/hotcell-error.ts';
import { requireObject } from '../json-fields.ts';
import type { ListedModel, ReadAddress, WireFormat } from '../wire-format.ts';
import { serverSentEvent } from '../writing.ts';
import { geminiErrors, readGeminiAnswer, readGeminiUsage, writeGeminiAnswer } from './answer.ts';
import { readGeminiRequest, writeGeminiRequest } from './request.ts';
import { createGeminiStreamReader, createGeminiStreamWriter } from './stream.ts';

/** Gemini `v1beta`. */
export const gemini: WireFormat = {
  name: 'gemini',
  family: 'gemini',
  ...geminiErrors,
  fixedHeaders: {},
  clientHeaders: [],
  boundNames: ['maxOutputTokens'],
  boundsIn: 'generationConfig',
  endMark: /"finishReason":|"blockReason":|"error":/,
  usageName: 'usageMetadata',
  listPath: '/models?pageSize=1000',
  ping: serverSentEvent({ candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, index: 0 }] }),
  keepsSeals: 'of-all',
  nativeToolsStandAlone: true,
  tokenCounting: {
    pathOf: (model) => pathOf(model, 'countTokens'),
    requestIn: (body) =>
      body.generateContentRequest === undefined ? body : requireObject(body.generateContentRequest, 'generateContentRequest'),
    write: (tokens) => ({ totalTokens: tokens }),
  },
  pathOf: (model, isStreamed) => pathOf(model, isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent'),
  readAddress,
  readUsage: readGeminiUsage,
  describeModel,
  describeModels: (models) => ({ models: models.map(describeModel) }),
  readRequest: readGeminiRequest,
  writeRequest: writeGeminiRequest,
  readAnswer: readGeminiAnswer,
  writeAnswer: writeGeminiAnswer,
  createStreamReader: createGeminiStreamReader,
  createStreamWriter: createGeminiStreamWriter,
};

const methods = ['generateContent', 'streamGenerateContent', 'countTokens'];

function pathOf(model: string, method: string): string {
  return `/models/${encodeURIComponent(model.toWellFormed())}:${method}`;
}

/** The model, and what is asked of it, stand in the path. */
function readAddress(rest: string): ReadAddress {
  const [, model = '', method = ''] = /^(.*):(\w+)$/s.exec(rest) ?? [];
  if (methods.includes(method))
    return { model, isStreamed: method === 'streamGenerateContent', isCount: method === 'countTokens' };
  const expected = 'MODEL:generateContent, :streamGenerateContent or :countTokens was expected';
  throw new HotcellError('not-found', `There is no method for "${rest.slice(0, 128)}": ${expected}.`);
}

function describeModel({ name }: ListedModel) {
  return { name: `models/${name}`, displayName: name, supportedGenerationMethods: methods };
}
