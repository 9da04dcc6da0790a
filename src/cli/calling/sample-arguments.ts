import { isObject } from '../../config/json-object.ts';
import type { JsonSchema } from '../../units/tool-manifest.ts';

/** Arguments to try a tool with: its first example, else something that fits the required properties. */
export function sampleArguments(tool: {
  readonly input: JsonSchema;
  readonly examples: ReadonlyArray<{ readonly args: unknown }>;
}): Record<string, unknown> {
  const example = tool.examples[0]?.args;
  if (isObject(example)) return example;
  return sampleObject(tool.input, 0);
}

function sampleObject(schema: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.fromEntries(
    required.filter((name) => typeof name === 'string').map((name) => [name, sampleValue(properties[name], depth)]),
  );
}

const maxSampleDepth = 8;

function sampleValue(schema: unknown, depth: number): unknown {
  if (!isObject(schema) || depth > maxSampleDepth) return 'text';
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return sampleValue(choices[0], depth + 1);
  if ('default' in schema) return schema.default;
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const type: unknown = [schema.type].flat()[0];
  if (type === 'number' || type === 'integer') return typeof schema.minimum === 'number' ? schema.minimum : 1;
  if (type === 'boolean') return true;
  if (type === 'object') return sampleObject(schema, depth + 1);
  return type === 'array' ? sampleList(schema, depth + 1) : 'text';
}

function sampleList({ items, prefixItems, minItems }: Readonly<Record<string, unknown>>, depth: number): unknown[] {
  const heads = Array.isArray(prefixItems) ? prefixItems : [];
  const count = Math.min(typeof minItems === 'number' ? minItems : heads.length, 10);
  return Array.from({ length: count }, (_, index) => sampleValue(heads[index] ?? items, depth));
}

/** Arguments as words for a shell: `city=Oslo days:=3`. */
export function formatWords(args: Readonly<Record<string, unknown>>): string {
  return Object.entries(args)
    .map(([key, value]) =>
      typeof value === 'string' ? `${key}=${quoteForShell(value)}` : `${key}:=${quoteForShell(JSON.stringify(value))}`,
    )
    .join(' ');
}

/** One word, quoted where a shell would change it. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
