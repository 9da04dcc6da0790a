import { type Static, Type } from 'typebox';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { listSecrets } from '../../secrets/named-secrets.ts';
import { type JsonSchema, toolFlags } from '../../units/tool-manifest.ts';

const maxSchemaChars = 200_000;
const strict = { additionalProperties: false };
const jsonObject = (description: string) => Type.Unsafe<JsonSchema>(Type.Object({}, { description }));

/** What carries out the calls of a registered tool: another tool, or a service of the operator. Never code. */
const handler = Type.Union([
  Type.String({ minLength: 1, maxLength: 256, description: 'The name of a tool: this one is another name for it.' }),
  Type.Object(
    {
      tool: Type.String({ minLength: 1, maxLength: 256, description: 'The name of a tool.' }),
      arguments: Type.Optional(
        Type.Unsafe<Record<string, unknown>>(
          Type.Object({}, { description: 'Arguments that are always these; the caller gives the others.' }),
        ),
      ),
    },
    strict,
  ),
  Type.Object(
    {
      url: Type.String({ minLength: 8, maxLength: 4096, description: 'Of a service; its query may name secrets.' }),
      method: Type.Optional(Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], { default: 'POST' })),
      headers: Type.Optional(
        Type.Record(Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' }), Type.String({ maxLength: 4096 }), {
          maxProperties: 32,
          description: 'Sent with each request; values may name secrets.',
        }),
      ),
      timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 900_000, default: 30_000 })),
    },
    strict,
  ),
]);

/** A tool that an operator registers while the daemon runs. */
export const toolDefinition = {
  name: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$', description: 'Letters, digits, _ and -.' }),
  version: Type.Optional(Type.String({ pattern: '^\\d{1,9}\\.\\d{1,9}\\.\\d{1,9}$', default: '1.0.0' })),
  description: Type.String({ minLength: 1, maxLength: 4096 }),
  schema: Type.Optional(
    Type.Object(
      {
        input: Type.Optional(jsonObject('JSON Schema of the arguments; of another name for a tool its own when left out.')),
        output: Type.Optional(jsonObject('JSON Schema of the output.')),
      },
      strict,
    ),
  ),
  handler,
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 32 })),
  mode: Type.Optional(Type.Enum(['on', 'off', 'auto'])),
  who: Type.Optional(Type.Enum(['model', 'person', 'both'])),
  flags: Type.Optional(Type.Partial(Type.Record(Type.Enum(toolFlags), Type.Boolean()), strict)),
};

const definitionSchema = Type.Object(toolDefinition, strict);

/** A tool that an operator registers while the daemon runs. */
export type RegisteredDefinition = Static<typeof definitionSchema>;

/** A handler that is a service. */
export type ServiceHandler = Extract<RegisteredDefinition['handler'], { readonly url: string }>;

/** A handler that is another tool. */
export interface AliasHandler {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Which tool a definition is another name for; undefined where a service handles it. */
export function aliasOf({ handler: written }: RegisteredDefinition): AliasHandler | undefined {
  if (typeof written === 'string') return { tool: written, arguments: {} };
  return 'tool' in written ? { tool: written.tool, arguments: written.arguments ?? {} } : undefined;
}

/** The names of the secrets that a service gets. */
export function secretsOf({ url, headers = {} }: ServiceHandler): string[] {
  return listSecrets([url, ...Object.values(headers)]);
}

/** The input schema of another name for a tool: its own without what is fixed. */
export function withoutFixed(input: JsonSchema, fixed: Readonly<Record<string, unknown>>): JsonSchema {
  const { properties, required, ...rest } = input;
  const left = (names: readonly unknown[]) => names.filter((name) => typeof name !== 'string' || !Object.hasOwn(fixed, name));
  return {
    ...rest,
    ...(typeof properties === 'object' && properties !== null
      ? { properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !Object.hasOwn(fixed, name))) }
      : {}),
    ...(Array.isArray(required) ? { required: left(required) } : {}),
  };
}

/** Throws `body-invalid` for schemas that nobody could read. */
export function checkSize({ schema }: RegisteredDefinition): void {
  const chars = JSON.stringify(schema ?? {}).length;
  if (chars <= maxSchemaChars) return;
  throw new HotcellError('body-invalid', `The schemas have ${chars} characters; at most ${maxSchemaChars} are taken.`);
}
