/** The JSON Schema of a schema object: its own words for it, or what can be read off the objects of zod 3 and valibot. */
import type { StandardSchema } from './standard-schema.ts';

/** Which values are meant: those that go in, or those that come out. */
export type SchemaSide = 'input' | 'output';

interface Describing {
  readonly toJSONSchema?: (options?: object) => unknown;
  readonly toJsonSchema?: (options?: object) => unknown;
}

type Json = Record<string, unknown>;

/** Undefined when the schema says nothing of itself. */
export function describeSchema(schema: StandardSchema & Describing, side: SchemaSide): unknown {
  const own = (schema['~standard'].jsonSchema as Record<SchemaSide, (options: object) => unknown> | undefined)?.[side];
  // A part that JSON Schema cannot say is left open.
  const options = { io: side, unrepresentable: 'any', fallback: openPart };
  return (
    attempt(own && (() => own({ target: 'draft-2020-12', libraryOptions: options }))) ??
    attempt(own && (() => own({ target: 'draft-2020-12' }))) ??
    attempt(schema.toJSONSchema && (() => schema.toJSONSchema?.(options))) ??
    attempt(schema.toJsonSchema && (() => schema.toJsonSchema?.(options))) ??
    attempt(() => readParts(schema, 0))
  );
}

function attempt(describe: (() => unknown) | undefined): unknown {
  try {
    return describe?.();
  } catch {
    return undefined;
  }
}

/** arktype asks what stands for a part that it cannot say. */
function openPart(part: { readonly base?: unknown }): unknown {
  return part?.base ?? {};
}

const maxDepth = 30;
const simpleTypes: Json = { string: 'string', number: 'number', boolean: 'boolean', null: 'null' };

/** zod 3 keeps the kind of a schema in `_def.typeName`, valibot in `type`. */
function readParts(schema: unknown, depth: number): Json | undefined {
  const { _def: definition, ...own } = (schema ?? {}) as { _def?: Json; type?: string } & Json;
  const facts = definition ?? own;
  const kind = String(definition?.typeName ?? own.type ?? '')
    .replace(/^Zod/, '')
    .replace(/^(?:loose|strict)_/, '')
    .toLowerCase();
  if (kind === '' || depth > maxDepth) return depth === 0 ? undefined : {};
  const inner = (value: unknown): Json => readParts(value, depth + 1) ?? {};
  const described = (json: Json): Json =>
    typeof facts.description === 'string' ? { ...json, description: facts.description } : json;
  const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : Object.values((value ?? {}) as Json));
  switch (kind) {
    case 'object': {
      const shape = (typeof facts.shape === 'function' ? facts.shape() : facts.entries) as Json;
      const names = Object.keys(shape);
      const required = names.filter((name) => !isOptional(shape[name]));
      return described({
        type: 'object',
        properties: Object.fromEntries(names.map((name) => [name, inner(shape[name])])),
        ...(required.length > 0 ? { required } : {}),
      });
    }
    case 'array':
      return described({ type: 'array', items: inner(definition ? facts.type : own.item) });
    case 'enum':
    case 'nativeenum':
    case 'picklist':
      return described({ enum: list(definition ? facts.values : own.options) });
    case 'literal':
      return described({ const: definition ? facts.value : own.literal });
    case 'union':
    case 'discriminatedunion':
    case 'variant':
      return described({ anyOf: list(facts.options instanceof Map ? [...facts.options.values()] : facts.options).map(inner) });
    case 'nullable':
    case 'nullish':
      return described({ anyOf: [inner(facts.innerType ?? own.wrapped), { type: 'null' }] });
    case 'record':
      return described({ type: 'object', additionalProperties: inner(definition ? facts.valueType : own.value) });
    case 'default':
    case 'optional':
    case 'catch':
    case 'readonly':
    case 'branded':
    case 'effects':
    case 'pipeline':
    case 'lazy': {
      const within = facts.innerType ?? own.wrapped ?? facts.schema ?? facts.in ?? (facts.type as unknown);
      const initial = typeof facts.defaultValue === 'function' ? facts.defaultValue() : own.default;
      return described({
        ...inner(within),
        ...(initial === undefined || typeof initial === 'function' ? {} : { default: initial }),
      });
    }
    default:
      return described(kind in simpleTypes ? { type: simpleTypes[kind] } : {});
  }
}

/** What the schema takes in place of a value that is not there. */
function isOptional(schema: unknown): boolean {
  try {
    const checked = (schema as StandardSchema)['~standard'].validate?.(undefined);
    return checked !== undefined && !('then' in checked) && !checked.issues;
  } catch {
    return false;
  }
}
