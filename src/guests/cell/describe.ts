/** Reads a plugin's exports as data: functions become marks, schema objects become JSON Schema. */
import { describeSchema, type SchemaSide } from './describe-schema.ts';
import { isParsing, isStandardSchema, type StandardSchema } from './standard-schema.ts';

const MAX_DEPTH = 40;
const MAX_NODES = 20_000;

interface Budget {
  nodes: number;
  /** Of a schema the side that is described. */
  side: SchemaSide;
}

/** The default export and the named exports as JSON text. */
export function describeExports(namespace: unknown): string {
  const budget: Budget = { nodes: 0, side: 'input' };
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
export function findExportedPlugin(namespace: unknown, fileBase: string): Record<string, unknown> | undefined {
  if (!isObject(namespace)) return undefined;
  const main = findDefault(namespace);
  if (isObject(main)) return main;
  const byFileName = namespace[fileBase];
  if (isObject(byFileName)) return byFileName;
  for (const key of Object.keys(namespace)) {
    const value = namespace[key];
    if (isObject(value) && typeof value.handler === 'function') return value;
  }
  return typeof namespace.handler === 'function' || tables.some((key) => isObject(namespace[key])) ? namespace : undefined;
}

/** CommonJS output may carry the object in `default`, in `default.default` or be it. */
function findDefault(namespace: Record<string, unknown>): unknown {
  const main = namespace.default;
  const isInside = isObject(main) && main.default !== undefined && !('handler' in main) && !tables.some((key) => key in main);
  return isInside ? main.default : main;
}

const tables = ['tools', 'prompts', 'resources'];

function toData(value: unknown, depth: number, parents: readonly unknown[], budget: Budget): unknown {
  if (typeof value === 'function')
    return isStandardSchema(value) ? schemaToData(value, depth, parents, budget) : { $function: true };
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (isStandardSchema(value)) return schemaToData(value, depth, parents, budget);
  if (++budget.nodes > MAX_NODES) throw new RangeError(`the default export holds more than ${MAX_NODES} values`);
  if (depth > MAX_DEPTH) return { $tooDeep: true };
  if (parents.includes(value)) return { $cycle: true };
  const inside = [...parents, value];
  if (Array.isArray(value)) return value.map((item) => toData(item, depth + 1, inside, budget));
  if (value instanceof Date || value instanceof RegExp) return String(value);
  // Without a prototype: "__proto__" is a key like any other.
  const data: Record<string, unknown> = Object.create(null);
  Object.assign(data, describeInstance(value as Record<string, unknown>));
  for (const key of Object.keys(value)) {
    const { side } = budget;
    if (key === 'output') budget.side = 'output';
    data[key] = toData((value as Record<string, unknown>)[key], depth + 1, inside, budget);
    budget.side = side;
  }
  return data;
}

const methods = ['handler', 'onLoad', 'onStart', 'onReload', 'healthcheck'];

/** Of an instance of a class with a handler: its methods, and that its other fields are its own affair. */
function describeInstance(value: Record<string, unknown>): Record<string, unknown> {
  const proto: unknown = Object.getPrototypeOf(value);
  if (!isObject(proto) || proto === Object.prototype || typeof value.handler !== 'function') return {};
  const found = methods.filter((name) => typeof value[name] === 'function' && !Object.hasOwn(value, name));
  return { $instance: true, ...Object.fromEntries(found.map((name) => [name, { $function: true }])) };
}

/** `$standardSchema` says that the schema itself checks the values: what is written beside it only describes them. */
function schemaToData(schema: StandardSchema, depth: number, parents: readonly unknown[], budget: Budget): unknown {
  const json = describeSchema(schema, budget.side);
  // zod hangs a hidden '~standard' on the JSON Schema too, which would be asked for its schema for ever.
  const plain: unknown = isObject(json) ? JSON.parse(JSON.stringify(json)) : undefined;
  const data = toData(plain ?? {}, depth + 1, [...parents, schema], budget) as Record<string, unknown>;
  return isParsing(schema) || plain === undefined ? { ...data, $standardSchema: true } : data;
}
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
