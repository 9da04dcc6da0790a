import { isObject } from '../config/json-object.ts';
import type { JsonSchema } from '../units/tool-manifest.ts';

/** Arguments to try a tool with: its first example, else something that fits the required properties. */
export function sampleArguments(tool: {
  readonly input: JsonSchema;
  readonly examples: ReadonlyArray<{ readonly args: unknown }>;
}): Record<string, unknown> {
  const example = tool.examples[0]?.args;
  if (isObject(example)) return example;
  const properties = isObject(tool.input.properties) ? tool.input.properties : {};
  const required = Array.isArray(tool.input.required) ? tool.input.required : [];
  return Object.fromEntries(
    required.filter((name) => typeof name === 'string').map((name) => [name, sampleValue(properties[name])]),
  );
}

function sampleValue(schema: unknown): unknown {
  if (!isObject(schema)) return 'text';
  if ('default' in schema) return schema.default;
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const type: unknown = [schema.type].flat()[0];
  if (type === 'number' || type === 'integer') return typeof schema.minimum === 'number' ? schema.minimum : 1;
  if (type === 'boolean') return true;
  return type === 'array' ? [] : type === 'object' ? {} : 'text';
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
