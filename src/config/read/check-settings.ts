import Type, { type TSchema } from 'typebox';
import Value from 'typebox/value';
import { askForOneOf, suggestNearNames } from '../../errors/near-names.ts';

/** One thing that is wrong: the key path (`queue.maxPending`) and a whole clause without the path. */
export interface SettingProblem {
  readonly path: readonly string[];
  readonly reason: string;
}

/** Finds everything that is wrong with a value at once, one problem a key; none when the schema accepts it. */
export function checkSettings(
  schema: TSchema,
  value: unknown,
  path: readonly string[] = [],
  root: TSchema = schema,
): SettingProblem[] {
  if (Type.IsObject(schema) && isPlainObject(value)) {
    return [...checkObject(schema.properties, value, path, root), ...findMissing(schema, value, path)];
  }
  if (Type.IsRecord(schema) && isPlainObject(value)) {
    const valueSchema = Type.RecordValue(schema);
    return Object.entries(value).flatMap(([key, item]) => checkSettings(valueSchema, item, [...path, key], root));
  }
  if (Type.IsArray(schema) && Array.isArray(value)) {
    const problems = value.flatMap((item, index) => checkSettings(schema.items, item, [...path, String(index)], root));
    if (problems.length > 0) return problems;
  }
  if (Value.Check(schema, value)) return [];
  // A map is judged as the one of the choices that is a map: what is wrong is a key of it.
  const maps =
    Type.IsUnion(schema) && isPlainObject(value) ? schema.anyOf.filter((each) => Type.IsObject(each) || Type.IsRecord(each)) : [];
  const [onlyMap] = maps;
  if (onlyMap !== undefined && maps.length === 1) return checkSettings(onlyMap, value, path, root);
  const shown = mayBeSecret(path) && typeof value === 'string' ? 'a text' : describeValue(value);
  return [{ path, reason: `must be ${describeWanted(schema)} and is ${shown}` }];
}

function checkObject(
  properties: Readonly<Record<string, TSchema>>,
  value: object,
  path: readonly string[],
  root: TSchema,
): SettingProblem[] {
  return Object.entries(value).flatMap(([key, item]) => {
    const schema = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (schema !== undefined) return item === undefined ? [] : checkSettings(schema, item, [...path, key], root);
    const names = Object.keys(properties);
    const meant = suggestNearNames(key, names) || askForOneOf(findOtherWord(key, names)) || askForOneOf(findElsewhere(key, root));
    return [{ path: [...path, key], reason: `is not a known key.${meant}` }];
  });
}

/** What other programs call a key that stands at this level: `apiKey` for `key`. */
function findOtherWord(key: string, names: readonly string[]): string[] {
  const plain = key.toLowerCase().replaceAll(/[_-]/g, '');
  return names.filter((name) => otherWords[name]?.includes(plain));
}

const otherWords: Readonly<Record<string, readonly string[]>> = {
  key: ['apikey', 'token', 'secret', 'apikeyenv', 'keyenv'],
  baseUrl: ['url', 'endpoint', 'host', 'address', 'apibase', 'apiurl'],
  format: ['type', 'api', 'protocol', 'kind'],
  model: ['defaultmodel', 'modelname'],
};

/** Where a key stands that was written at another level: `queue.maxPending` for `maxPending`. */
function findElsewhere(name: string, schema: TSchema, path: readonly string[] = []): string[] {
  if (!Type.IsObject(schema)) return [];
  return Object.entries(schema.properties).flatMap(([key, inner]) => [
    ...(key === name ? [[...path, key].join('.')] : []),
    ...findElsewhere(name, inner, [...path, key]),
  ]);
}

function findMissing(schema: TSchema, value: object, path: readonly string[]): SettingProblem[] {
  const { required }: Readonly<Record<string, unknown>> = { ...schema };
  const names = Array.isArray(required) ? required.map(String) : [];
  return names.filter((name) => !Object.hasOwn(value, name)).map((name) => ({ path: [...path, name], reason: 'is missing' }));
}

/** True for objects as YAML and JSON make them. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Where keys and tokens are named: what stands there in a wrong place may be one itself, and messages go into logs. */
function mayBeSecret(path: readonly string[]): boolean {
  return path.some((name) => ['secrets', 'env', 'headers', 'plugins', 'key'].includes(name));
}

function describeWanted(schema: TSchema): string {
  const { minimum, maximum, minLength, maxItems }: Readonly<Record<string, unknown>> = { ...schema };
  if (Type.IsInteger(schema)) return `a whole number from ${String(minimum)} to ${String(maximum)}`;
  if (Type.IsNumber(schema)) return `a number from ${String(minimum)} to ${String(maximum)}`;
  if (Type.IsUnion(schema)) return schema.anyOf.map(describeWanted).join(' or ');
  if (Type.IsBoolean(schema)) return 'true or false';
  if (Type.IsString(schema)) return minLength === undefined ? 'a text' : 'a text that is not empty';
  if (Type.IsEnum(schema)) return `one of ${schema.enum.join(', ')}`;
  if (Type.IsArray(schema)) return `a list of at most ${String(maxItems)} texts`;
  return 'a map of keys and values';
}

function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'a map';
  return String(value);
}
