import type { JsonObject, MediaSource } from '../../conversation/conversation.ts';
import type { ResponseShape } from '../../conversation/request.ts';
import { compact, flagIn, known, objectIn, textIn } from './json-fields.ts';
import { readOpenaiFailure, writeOpenaiFailure } from './openai-failure.ts';
import type { ListedModel, WireFormat } from './wire-format.ts';

// What both of OpenAI's formats say in the same way.

/** Some servers send the arguments of a call as an object instead of its text. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** The sound of `input_audio`; undefined when there is none. */
export function readInputAudio(audio: unknown): MediaSource | undefined {
  const { data, format } = objectIn(audio);
  if (typeof data !== 'string') return undefined;
  return { kind: 'data', mediaType: format === 'mp3' ? 'audio/mpeg' : `audio/${textIn(format) ?? 'wav'}`, data };
}

/** A sound as `input_audio`. */
export function writeInputAudio({ mediaType, data }: Extract<MediaSource, { kind: 'data' }>): JsonObject {
  return { data, format: mediaType === 'audio/mpeg' ? 'mp3' : mediaType.replace(/^audio\/(x-)?/, '') };
}

/** The shape that an answer is to have; `about` says more of one by a schema. */
export function readShape(type: unknown, about: unknown): ResponseShape | undefined {
  if (type === 'text') return { kind: 'text' };
  if (type === 'json_object') return { kind: 'json' };
  if (type !== 'json_schema') return undefined;
  const { name, schema, strict, description } = objectIn(about);
  const facts = { name: textIn(name), description: textIn(description), isStrict: flagIn(strict) };
  return { kind: 'json-schema', schema: objectIn(schema), ...known(facts) };
}

/** The type of a shape, and what is said of one by a schema. */
export function writeShape(shape: ResponseShape): { type: string; about?: JsonObject } {
  if (shape.kind === 'text') return { type: 'text' };
  if (shape.kind === 'json') return { type: 'json_object' };
  const { name = 'answer', schema, isStrict: strict, description } = shape;
  return { type: 'json_schema', about: compact({ name, description, schema, strict }) };
}

/** What both formats have beside requests and answers. */
export const openaiFacts = {
  streamType: 'text/event-stream',
  family: 'openai',
  fixedHeaders: {},
  clientHeaders: ['openai-beta'],
  usageName: 'usage',
  listPath: '/models',
  ping: ': ping\n\n',
  describeModel: describeOpenaiModel,
  describeModels: (models) => ({ object: 'list', data: models.map(describeOpenaiModel) }),
  readFailure: readOpenaiFailure,
  writeFailure: writeOpenaiFailure,
} as const satisfies Partial<WireFormat>;

function describeOpenaiModel({ name, provider }: ListedModel): JsonObject {
  return { id: name, object: 'model', created: 0, owned_by: provider };
}
