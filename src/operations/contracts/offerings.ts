import { type Static, Type } from 'typebox';
import { callAnswer } from '../../calls/call-types.ts';
import { maxUriChars } from '../../units/uri-template.ts';
import { defineContract } from '../operation.ts';
import { listOf, pageQuery } from './paging.ts';

const listQuery = { q: Type.Optional(Type.String({ maxLength: 256 })), ...pageQuery };
const name = Type.String({ minLength: 1, maxLength: 256 });
const uri = Type.String({ minLength: 1, maxLength: maxUriChars });
const session = Type.Optional(Type.String({ minLength: 1, maxLength: 128 }));
const texts = Type.Record(Type.String(), Type.String());

const shared = {
  name: Type.String(),
  plugin: Type.String(),
  title: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
};

const promptView = Type.Object({
  ...shared,
  arguments: Type.Array(
    Type.Object({
      name: Type.String(),
      title: Type.Optional(Type.String()),
      description: Type.Optional(Type.String()),
      required: Type.Optional(Type.Boolean()),
    }),
  ),
});

/** A prompt as every door shows it. */
export type PromptView = Static<typeof promptView>;

const mimeType = Type.Optional(Type.String());
const resourceView = Type.Object({ uri: Type.String(), ...shared, mimeType, size: Type.Optional(Type.Integer()) });
const templateView = Type.Object({ uriTemplate: Type.String(), ...shared, mimeType });

/** A resource as every door shows it. */
export type ResourceView = Static<typeof resourceView>;
/** The template of resources as every door shows it. */
export type TemplateView = Static<typeof templateView>;

/** What can be done with prompts. */
export const promptContracts = {
  list: defineContract({
    name: 'prompts.list',
    summary: 'Lists the prompts of plugins; q looks in name, title and description.',
    role: 'caller',
    isForAnonymous: true,
    input: listQuery,
    output: listOf(promptView),
    http: { method: 'GET', path: '/api/prompts' },
  }),
  get: defineContract({
    name: 'prompts.get',
    summary: 'Makes the messages of a prompt; output is {description?, messages: [{role, content}]}.',
    role: 'caller',
    isForAnonymous: true,
    input: { name, arguments: Type.Optional(texts), session },
    output: callAnswer,
    streams: true,
    http: { method: 'POST', path: '/api/prompts/:name' },
  }),
};

/** What can be done with resources. */
export const resourceContracts = {
  list: defineContract({
    name: 'resources.list',
    summary: 'Lists the resources of plugins that have an address; q looks in address, name, title and description.',
    role: 'caller',
    isForAnonymous: true,
    input: listQuery,
    output: listOf(resourceView),
    http: { method: 'GET', path: '/api/resources' },
  }),
  templates: defineContract({
    name: 'resources.templates',
    summary: 'Lists the templates of addresses under which plugins have resources.',
    role: 'caller',
    isForAnonymous: true,
    input: listQuery,
    output: listOf(templateView),
    http: { method: 'GET', path: '/api/resources/templates' },
  }),
  read: defineContract({
    name: 'resources.read',
    summary: 'Reads a resource; output is {contents: [{uri, mimeType?, text or blob}]}, bytes in base64.',
    role: 'caller',
    isForAnonymous: true,
    input: { uri, session },
    output: callAnswer,
    streams: true,
    http: { method: 'POST', path: '/api/resources/read' },
  }),
};

/** The most values that one answer has. */
export const maxCompletionValues = 100;

/** What can stand for the arguments of prompts and the variables of templates. */
export const completionContracts = {
  complete: defineContract({
    name: 'completions.complete',
    summary: 'Tells what can stand for an argument of a prompt, or for a variable of a template.',
    role: 'caller',
    isForAnonymous: true,
    input: {
      ref: Type.Union([
        Type.Object({ type: Type.Literal('prompt'), name }, { additionalProperties: false }),
        Type.Object({ type: Type.Literal('resource'), uri }, { additionalProperties: false }),
      ]),
      argument: Type.Object(
        { name: Type.String({ minLength: 1, maxLength: 64 }), value: Type.String({ maxLength: 1024 }) },
        { additionalProperties: false },
      ),
      context: Type.Optional(
        Type.Record(Type.String(), Type.String(), { description: 'The other arguments, as far as they are known.' }),
      ),
    },
    output: Type.Object({
      values: Type.Array(Type.String(), { maxItems: maxCompletionValues }),
      total: Type.Optional(Type.Integer()),
      hasMore: Type.Optional(Type.Boolean()),
    }),
    http: { method: 'POST', path: '/api/completions' },
  }),
};
