import type { ListedModel, WireFormat } from '../wire-format.ts';
import { serverSentEvent } from '../writing.ts';
import { anthropicErrors, readMessagesAnswer, readMessagesUsage, writeMessagesAnswer } from './answer.ts';
import { readMessagesRequest, writeMessagesRequest } from './request.ts';
import { createMessagesStreamReader, createMessagesStreamWriter } from './stream.ts';

/** Anthropic Messages. */
export const anthropic: WireFormat = {
  name: 'anthropic',
  family: 'anthropic',
  ...anthropicErrors,
  fixedHeaders: { 'anthropic-version': '2023-06-01' },
  clientHeaders: ['anthropic-version', 'anthropic-beta'],
  boundNames: ['max_tokens'],
  endMark: /"message_stop"|"error"/,
  usageName: 'usage',
  listPath: '/v1/models?limit=1000',
  ping: serverSentEvent({ type: 'ping' }, 'ping'),
  keepsSeals: 'of-reasoning',
  tokenCounting: {
    pathOf: () => '/v1/messages/count_tokens',
    requestIn: (body) => ({ max_tokens: 1, ...body }),
    write: (tokens) => ({ input_tokens: tokens }),
  },
  pathOf: () => '/v1/messages',
  readUsage: readMessagesUsage,
  describeModel,
  describeModels: (models) => ({
    data: models.map(describeModel),
    has_more: false,
    first_id: models[0]?.name ?? null,
    last_id: models.at(-1)?.name ?? null,
  }),
  readRequest: readMessagesRequest,
  writeRequest: writeMessagesRequest,
  readAnswer: readMessagesAnswer,
  writeAnswer: writeMessagesAnswer,
  createStreamReader: createMessagesStreamReader,
  createStreamWriter: createMessagesStreamWriter,
};

function describeModel({ name }: ListedModel) {
  return { type: 'model', id: name, display_name: name, created_at: '1970-01-01T00:00:00Z' };
}
