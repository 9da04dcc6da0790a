import { type Static, Type } from 'typebox';
import { callAnswer } from '../../calls/call-types.ts';
import { toolDefinition } from '../../tools/registered/definition.ts';
import type { JsonSchema } from '../../units/tool-manifest.ts';
import { unitKinds } from '../../units/unit.ts';
import { defineContract } from '../operation.ts';
import { listOf, pageQuery } from './paging.ts';

const toolRef = Type.String({ minLength: 1, maxLength: 256, description: 'name, name@1.2.3 or name@range.' });
const jsonSchema = Type.Unsafe<JsonSchema>(Type.Object({}));
const mode = Type.Enum(['on', 'off', 'auto']);
const source = Type.Enum(unitKinds);

const who = Type.Enum(['model', 'person', 'both']);

/** A tool as every door shows it. */
export const toolView = Type.Object({
  ref: Type.String({ description: 'name@version' }),
  name: Type.String(),
  version: Type.String(),
  description: Type.String(),
  usage: Type.Optional(Type.String()),
  source,
  plugin: Type.String(),
  byVersionOnly: Type.Optional(Type.Literal(true, { description: 'Its bare name belongs to another plugin.' })),
  mode,
  who,
  setting: Type.Optional(
    Type.Object(
      {
        mode: Type.Optional(mode),
        who: Type.Optional(who),
        by: Type.Optional(Type.String({ description: 'The caller id of who set it; for admins.' })),
        atMs: Type.Integer(),
      },
      { description: 'What was set while the daemon ran, over what the tool declares.' },
    ),
  ),
  tags: Type.Array(Type.String()),
  flags: Type.Array(Type.String({ description: 'Such as isDangerous.' })),
  idempotent: Type.Boolean(),
  loopBudget: Type.Object(
    { repeats: Type.Integer(), followUps: Type.Integer(), renewals: Type.Integer() },
    { description: 'How long a model may go on by itself with this tool at hand.' },
  ),
  task: Type.Optional(Type.Enum(['required', 'never'], { description: 'Whether MCP clients get it as a task.' })),
  timeoutMs: Type.Optional(Type.Number()),
  input: jsonSchema,
  inputSource: Type.String(),
  output: Type.Optional(jsonSchema),
  calls: Type.Optional(Type.Integer({ description: 'How often it was called, in all; for admins.' })),
  lastUsedAtMs: Type.Optional(Type.Integer()),
  examples: Type.Array(Type.Object({ args: Type.Unknown(), expect: Type.Optional(Type.Unknown()) })),
});

/** A tool as every door shows it. */
export type ToolView = Static<typeof toolView>;

const scored = {
  ref: Type.String(),
  name: Type.String(),
  score: Type.Integer(),
  points: Type.Array(
    Type.Object({
      signal: Type.String({ description: 'Such as name-word.' }),
      points: Type.Integer(),
      found: Type.Array(Type.String()),
    }),
  ),
};

/** What can be done with tools. */
export const toolContracts = {
  list: defineContract({
    name: 'tools.list',
    summary: 'Lists the tools that can be called; q looks in name, description and tags.',
    role: 'caller',
    isForAnonymous: true,
    input: {
      q: Type.Optional(Type.String({ maxLength: 256 })),
      mode: Type.Optional(mode),
      source: Type.Optional(source),
      plugin: Type.Optional(Type.String({ maxLength: 512 })),
      forModel: Type.Optional(
        Type.Boolean({ description: 'Only what a model of this caller is told of: of each name what the bare name means.' }),
      ),
      ...pageQuery,
    },
    output: listOf(toolView),
    http: { method: 'GET', path: '/api/tools' },
  }),
  get: defineContract({
    name: 'tools.get',
    summary: 'Shows one tool with its schemas and examples.',
    role: 'caller',
    isForAnonymous: true,
    input: { ref: toolRef },
    output: toolView,
    http: { method: 'GET', path: '/api/tools/:ref' },
  }),
  own: defineContract({
    name: 'tools.own',
    summary: 'Gives the bare name of a tool to one of the plugins that define it; the others answer to name@version.',
    role: 'admin',
    isForPeople: true,
    input: {
      name: Type.String({
        minLength: 1,
        maxLength: 2200,
        description: 'The name of the tool, without a version; or prompt:NAME, resource:URI.',
      }),
      plugin: Type.String({ minLength: 1, maxLength: 512, description: 'Name or path of the plugin.' }),
    },
    output: Type.Object({ name: Type.String(), plugin: Type.String(), path: Type.String() }),
    http: { method: 'PUT', path: '/api/tools/:name/owner' },
  }),
  update: defineContract({
    name: 'tools.update',
    summary: 'Sets the mode of a tool and who uses it, from now on and over restarts; null takes that back.',
    role: 'admin',
    input: {
      ref: toolRef,
      mode: Type.Optional(Type.Union([mode, Type.Null()])),
      who: Type.Optional(Type.Union([who, Type.Null()])),
    },
    output: toolView,
    http: { method: 'PATCH', path: '/api/tools/:ref' },
  }),
  register: defineContract({
    name: 'tools.register',
    summary: 'Registers a tool that a service of the operator carries out, or another name for a tool; kept over restarts.',
    role: 'admin',
    isForPeople: true,
    input: {
      ...toolDefinition,
      replace: Type.Optional(Type.Boolean({ description: 'Puts it in the place of an earlier one.' })),
    },
    output: toolView,
    http: { method: 'POST', path: '/api/tools' },
  }),
  unregister: defineContract({
    name: 'tools.unregister',
    summary: 'Takes a registered tool out, with its grants and settings.',
    role: 'admin',
    isForPeople: true,
    input: { ref: toolRef },
    output: Type.Object({ ref: Type.String() }),
    http: { method: 'DELETE', path: '/api/tools/:ref' },
  }),
  select: defineContract({
    name: 'tools.select',
    summary: 'Tells which tools a model would be shown for a request, and why; passedOver are the next ones in mode auto.',
    role: 'caller',
    input: {
      context: Type.String({ maxLength: 200_000, description: 'What the model is asked; the last 8,000 characters count.' }),
      background: Type.Optional(
        Type.String({ maxLength: 20_000, description: 'Why the request is made, where nobody waits for it.' }),
      ),
      provider: Type.Optional(Type.String({ maxLength: 64, description: 'Whose model it is, such as anthropic.' })),
      limit: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 100, description: 'Tools in mode auto at most; 5 when left out.' }),
      ),
    },
    output: Type.Object({
      tools: Type.Array(
        Type.Object({ ...scored, mode, why: Type.Enum(['on', 'preferred', 'score']), description: Type.String() }),
      ),
      passedOver: Type.Array(Type.Object(scored)),
      total: Type.Integer({ description: 'How many tools there were to choose from.' }),
    }),
    http: { method: 'POST', path: '/api/tools/select' },
  }),
  switch: defineContract({
    name: 'tools.switch',
    summary: 'Turns all tools (enabled) or all but the built-in ones (custom) off and on again; what is left out stays.',
    role: 'admin',
    input: { enabled: Type.Optional(Type.Boolean()), custom: Type.Optional(Type.Boolean()) },
    output: Type.Object({ enabled: Type.Boolean(), custom: Type.Boolean() }),
    http: { method: 'PATCH', path: '/api/tools' },
  }),
  call: defineContract({
    name: 'tools.call',
    summary: 'Calls one tool. A call that ran answers with its status; what was refused before it ran is an error.',
    role: 'caller',
    isForAnonymous: true,
    input: {
      ref: toolRef,
      arguments: Type.Optional(
        Type.Unsafe<Record<string, unknown>>(Type.Object({}, { description: 'The arguments; {} when left out.' })),
      ),
      session: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
      timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 900_000 })),
      idempotencyKey: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
      builtinsOnly: Type.Optional(Type.Boolean({ description: 'Nothing but built-in tools may run, in the call and below it.' })),
      turn: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 128,
          description: 'One turn of a model: of its calls those that are not marked isParallelSafe run one after the other.',
        }),
      ),
    },
    output: callAnswer,
    streams: true,
    http: { method: 'POST', path: '/api/tools/:ref/call' },
  }),
};
