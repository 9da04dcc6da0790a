import { propertySchemas } from '../operations/invoke.ts';
import type { HttpBinding, OperationContract } from '../operations/operation.ts';
import { requiredNames } from './json-rpc/open-rpc.ts';

const problem = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'fix'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'A whole sentence: what was expected and what came.' },
    code: { type: 'string', description: 'Stable.' },
    fix: { type: 'string', description: 'The next step.' },
  },
};

/** Describes every operation as an OpenAPI 3.1 document. */
export function describeApi(operations: readonly OperationContract[], version: string) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const path = operation.http.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [operation.http.method.toLowerCase()]: describeOperation(operation) };
  }
  paths['/api/events'] = { get: eventStream };
  return {
    openapi: '3.1.0',
    info: { title: 'Hotcell', version, description: 'Files into sandboxed tools for language models.' },
    paths,
    components: {
      schemas: { Problem: problem },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      responses: {
        Problem: {
          description: 'Refused; see code and fix.',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
    },
    security: [{ bearer: [] }],
  };
}

function describeOperation(operation: OperationContract) {
  const { http, name, summary, role, output } = operation;
  const schemas = propertySchemas(operation);
  const inPath = [...http.path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
  const others = Object.keys(schemas).filter((property) => !inPath.includes(property));
  const hasBody = http.method !== 'GET' && http.method !== 'DELETE' && others.length > 0;
  const required = requiredNames(operation.input);
  const parameter = (property: string, where: string) => ({
    name: property,
    in: where,
    required: where === 'path' || required.includes(property),
    schema: schemas[property],
  });
  const inQuery = hasBody ? [] : others;
  return {
    operationId: name,
    summary,
    tags: [name.split('.')[0]],
    'x-role': role,
    parameters: [
      ...inPath.map((property) => parameter(property, 'path')),
      ...inQuery.map((property) => ({ ...parameter(property, 'query'), style: 'form', explode: false })),
      ...(http.ifMatch === undefined ? [] : [{ name: 'If-Match', in: 'header', schema: { type: 'string' } }]),
    ],
    ...(hasBody ? { requestBody: describeBody(http, others, schemas, required) } : {}),
    responses: {
      200: { description: summary, content: { ...describeResult(http, output), ...(operation.streams ? answerStream : {}) } },
      default: { $ref: '#/components/responses/Problem' },
    },
  };
}

function describeBody(
  http: HttpBinding,
  names: readonly string[],
  schemas: Readonly<Record<string, object>>,
  required: readonly string[],
) {
  if (http.textBody !== undefined) return { required: true, content: { 'text/plain': { schema: { type: 'string' } } } };
  const needed = names.filter((name) => required.includes(name));
  const schema = {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, schemas[name]])),
    ...(needed.length > 0 ? { required: needed } : {}),
    additionalProperties: false,
  };
  return { required: needed.length > 0, content: { 'application/json': { schema } } };
}

function describeResult(http: HttpBinding, output: object) {
  return http.textResult === undefined
    ? { 'application/json': { schema: output } }
    : { 'text/plain': { schema: { type: 'string' } } };
}

/** What a client that accepts it gets instead: `accepted`, events, then `answer` or `problem`. */
const answerStream = { 'text/event-stream': { schema: { type: 'string' } } };

const eventStream = {
  operationId: 'events.stream',
  summary: 'Server-sent events, resumable by Last-Event-ID.',
  tags: ['events'],
  parameters: [
    { name: 'Last-Event-ID', in: 'header', schema: { type: 'integer' } },
    { name: 'after', in: 'query', schema: { type: 'integer' } },
    { name: 'types', in: 'query', style: 'form', explode: false, schema: { type: 'array', items: { type: 'string' } } },
  ],
  responses: {
    200: { description: 'A stream that does not end.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
    default: { $ref: '#/components/responses/Problem' },
  },
};
