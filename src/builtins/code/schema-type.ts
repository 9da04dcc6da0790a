import { isObject } from '../../config/json-object.ts';
import { findLocal } from '../../tools/validation/prepare-schema.ts';
import type { JsonSchema } from '../../units/tool-manifest.ts';

/** How far a schema is followed: what lies beyond is `unknown`. */
const maxDepth = 12;
const maxMembers = 200;
const maxChars = 40_000;
const identifier = /^[A-Za-z_$][\w$]*$/;

/** What a schema says that nothing can be said of. */
type Unsaid = 'unknown' | 'any';

interface Walk {
  readonly root: JsonSchema;
  readonly unsaid: Unsaid;
  /** References under way: who leads back to one of them is cut there. */
  readonly refs: readonly string[];
  readonly depth: number;
  /** Characters that are left for all of it, counted again at every depth: the same reference may stand a thousand times. */
  readonly left: { chars: number };
}

/**
 * The TypeScript type of what fits a JSON Schema, on one line, with descriptions as comments. It never throws: `$ref` is followed within
 * the schema, cycles and whatever it cannot say are `unsaid`. What the type lets through is checked by the schema all the same.
 */
export function writeSchemaType(schema: unknown, unsaid: Unsaid = 'unknown'): string {
  const root = isObject(schema) ? schema : {};
  return writeType(schema, { root, unsaid, refs: [], depth: 0, left: { chars: maxChars } });
}

/** A name as it stands in a type or an object. */
export function writeMemberName(name: string): string {
  return identifier.test(name) ? name : JSON.stringify(name);
}

/** Text as a comment that it cannot end, with a blank after it; empty without text. */
export function writeComment(text: unknown, maxTextChars = 300): string {
  if (typeof text !== 'string') return '';
  const line = text
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .replaceAll('*/', '*\\/');
  if (line === '') return '';
  return `/** ${line.length > maxTextChars ? `${line.slice(0, maxTextChars)}…` : line} */ `;
}

function writeType(schema: unknown, walk: Walk): string {
  if (schema === false) return 'never';
  if (!isObject(schema) || walk.depth > maxDepth || walk.left.chars <= 0) return walk.unsaid;
  walk.left.chars--;
  const inner = { ...walk, depth: walk.depth + 1 };
  const parts = [writeRef(schema, inner), writeValues(schema), ...writeCombined(schema, inner)].filter(
    (part) => part !== undefined,
  );
  // What is named by value or by reference says more than its kind beside it.
  if (parts.length === 0) parts.push(writeKinds(schema, inner));
  const said = parts.filter((part) => part !== walk.unsaid);
  const type = joinAll(said, ' & ') || walk.unsaid;
  walk.left.chars -= type.length;
  return schema.nullable === true ? joinAll([type, 'null'], ' | ') : type;
}

function writeRef(schema: JsonSchema, walk: Walk): string | undefined {
  const ref = schema.$ref;
  if (typeof ref !== 'string') return undefined;
  if (walk.refs.includes(ref)) return walk.unsaid;
  return writeType(findLocal(walk.root, ref), { ...walk, refs: [...walk.refs, ref] });
}

function writeValues(schema: JsonSchema): string | undefined {
  if ('const' in schema) return writeValue(schema.const);
  if (!Array.isArray(schema.enum) || schema.enum.length === 0 || schema.enum.length > maxMembers) return undefined;
  return joinAll(schema.enum.map(writeValue), ' | ');
}

function writeValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeValue).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'unknown';
  return `{ ${Object.entries(value)
    .map(([key, each]) => `${writeMemberName(key)}: ${writeValue(each)}`)
    .join('; ')} }`;
}

function* writeCombined(schema: JsonSchema, walk: Walk): Generator<string | undefined> {
  const { allOf } = schema;
  const either = schema.anyOf ?? schema.oneOf;
  // Parts say what the whole schema leaves open, so its own members stand beside them.
  if ((Array.isArray(allOf) || Array.isArray(either)) && isObject(schema.properties)) yield writeObject(schema, walk);
  if (Array.isArray(allOf)) {
    const parts = allOf.slice(0, maxMembers).map((part) => writeType(part, walk));
    yield joinAll(
      parts.filter((part) => part !== walk.unsaid),
      ' & ',
    ) || walk.unsaid;
  }
  if (Array.isArray(either))
    yield joinAll(
      either.slice(0, maxMembers).map((part) => writeType(part, walk)),
      ' | ',
    );
}

function writeKinds(schema: JsonSchema, walk: Walk): string {
  const { type } = schema;
  const kinds = Array.isArray(type) ? type : type === undefined ? [guessKind(schema)] : [type];
  return joinAll(
    kinds.map((kind) => writeKind(kind, schema, walk)),
    ' | ',
  );
}

function guessKind(schema: JsonSchema): string {
  if (isObject(schema.properties) || isObject(schema.additionalProperties)) return 'object';
  return schema.items !== undefined || schema.prefixItems !== undefined ? 'array' : '';
}

function writeKind(kind: unknown, schema: JsonSchema, walk: Walk): string {
  switch (kind) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return kind;
    case 'integer':
      return 'number';
    case 'array':
      return writeArray(schema, walk);
    case 'object':
      return writeObject(schema, walk);
    default:
      return walk.unsaid;
  }
}

function writeArray({ prefixItems, items }: JsonSchema, walk: Walk): string {
  const fixed = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  const rest = Array.isArray(items) ? undefined : items;
  if (fixed.length === 0 || fixed.length > maxMembers) return `${bracket(writeType(rest, walk))}[]`;
  const members = fixed.map((each) => `${bracket(writeType(each, walk))}?`);
  if (rest !== false) members.push(`...${bracket(writeType(rest, walk))}[]`);
  return `[${members.join(', ')}]`;
}

function writeObject(schema: JsonSchema, walk: Walk): string {
  const { properties, additionalProperties } = schema;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const members: string[] = [];
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {}).slice(0, maxMembers)) {
    const about = isObject(property) ? writeComment(property.description) : '';
    const member = `${about}${writeMemberName(name)}${required.has(name) ? '' : '?'}: ${writeType(property, walk)}`;
    walk.left.chars -= about.length + name.length;
    members.push(member);
  }
  if (members.length === 0) {
    if (additionalProperties === false) return 'Record<string, never>';
    return `Record<string, ${isObject(additionalProperties) ? writeType(additionalProperties, walk) : walk.unsaid}>`;
  }
  // A member that is not named may be anything, also beside ones that are: the type of those would have to fit it.
  if (additionalProperties !== undefined && additionalProperties !== false) members.push(`[key: string]: ${walk.unsaid}`);
  return `{ ${members.join('; ')} }`;
}

function joinAll(types: readonly string[], by: ' | ' | ' & '): string {
  const different = [...new Set(types)];
  return different.length < 2 ? (different[0] ?? '') : different.map((type) => (by === ' & ' ? bracket(type) : type)).join(by);
}

/** In brackets where it would be read otherwise beside an operator. */
function bracket(type: string): string {
  return /^(?:[\w$]+|\{[^{}]*\}|"[^"\\]*")$/.test(type) ? type : `(${type})`;
}
