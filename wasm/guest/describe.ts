/** Reads a plugin's exports as data: functions become marks, schema objects become JSON Schema. */

const MAX_DEPTH = 40;
const MAX_NODES = 20_000;

interface Budget {
  nodes: number;
}

/** The default export and the named exports as JSON text. */
export function describeExports(namespace: unknown): string {
  const budget = { nodes: 0 };
  const named: Record<string, unknown> = Object.create(null);
  let main: unknown;
  if (isObject(namespace)) {
    for (const key of Object.keys(namespace)) {
      if (key === 'default' || key === '__esModule') continue;
      named[key] = toData(namespace[key], 0, [], budget);
    }
    main = toData(findDefault(namespace), 0, [], budget);
  } else {
    main = toData(namespace, 0, [], budget);
  }
  return JSON.stringify({ default: main, named });
}

/** The object that handlers and hooks are taken from. */
export function findPlugin(namespace: unknown, fileBase: string): Record<string, unknown> | undefined {
  if (!isObject(namespace)) return undefined;
  const main = findDefault(namespace);
  if (isObject(main)) return main;
  const byFileName = namespace[fileBase];
  if (isObject(byFileName)) return byFileName;
  for (const key of Object.keys(namespace)) {
    const value = namespace[key];
    if (isObject(value) && typeof value.handler === 'function') return value;
  }
  return typeof namespace.handler === 'function' || isObject(namespace.tools) ? namespace : undefined;
}

/** CommonJS output may carry the object in `default`, in `default.default` or be it. */
function findDefault(namespace: Record<string, unknown>): unknown {
  const main = namespace.default;
  if (isObject(main) && main.default !== undefined && !('handler' in main) && !('tools' in main)) return main.default;
  return main;
}

function toData(value: unknown, depth: number, parents: readonly unknown[], budget: Budget): unknown {
  if (typeof value === 'function') return isSchema(value) ? schemaToData(value, depth, parents, budget) : { $function: true };
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (isSchema(value)) return schemaToData(value, depth, parents, budget);
  if (++budget.nodes > MAX_NODES) throw new RangeError(`the default export holds more than ${MAX_NODES} values`);
  if (depth > MAX_DEPTH) return { $tooDeep: true };
  if (parents.includes(value)) return { $cycle: true };
  const inside = [...parents, value];
  if (Array.isArray(value)) return value.map((item) => toData(item, depth + 1, inside, budget));
  if (value instanceof Date || value instanceof RegExp) return String(value);
  // Without a prototype: "__proto__" is a key like any other.
  const data: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value)) data[key] = toData((value as Record<string, unknown>)[key], depth + 1, inside, budget);
  return data;
}

interface StandardSchema {
  readonly '~standard'?: { readonly jsonSchema?: { readonly input?: (options: object) => unknown } };
  readonly toJSONSchema?: (options?: object) => unknown;
  readonly toJsonSchema?: () => unknown;
}

function isSchema(value: unknown): value is StandardSchema {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value;
}

function schemaToData(schema: StandardSchema, depth: number, parents: readonly unknown[], budget: Budget): unknown {
  const standard = schema['~standard'];
  let json: unknown;
  if (typeof standard?.jsonSchema?.input === 'function') json = standard.jsonSchema.input({ target: 'draft-2020-12' });
  else if (typeof schema.toJSONSchema === 'function') json = schema.toJSONSchema({ io: 'input' });
  else if (typeof schema.toJsonSchema === 'function') json = schema.toJsonSchema();
  else return { $standardSchema: true };
  // zod hangs a hidden '~standard' on the JSON Schema too, which would be asked for its schema for ever.
  const plain: unknown = json === undefined ? undefined : JSON.parse(JSON.stringify(json));
  return toData(plain, depth + 1, [...parents, schema], budget);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
