import type { ArrowFunctionExpression, Function as FunctionNode, ObjectPattern, ParamPattern, TSType } from 'oxc-parser';
import { isObject } from '../../config/json-object.ts';
import type { JsonSchema } from '../../units/tool-manifest.ts';
import type { ModuleGraph } from './module-graph.ts';
import type { HandlerNode } from './plugin-object.ts';
import type { InferredHandler } from './read-result.ts';
import { type DocComment, findDocComment } from './types/doc-comments.ts';
import { jsdocParameterType } from './types/jsdoc-parameters.ts';
import { literalValue } from './types/literals.ts';
import type { TypeScope } from './types/type-scope.ts';
import { createTypeReader } from './types/type-to-schema.ts';
import { keyName } from './walk-nodes.ts';

/** The input schema that the first parameter of a handler says, with its types in TypeScript or in a doc comment. */
export function inferHandler(graph: ModuleGraph, handler: HandlerNode): InferredHandler {
  const doc = findDocComment(handler.module, handler.documented) ?? findDocComment(handler.module, handler.fn.start);
  const described = doc?.text ? { description: doc.text } : {};
  const parameter = firstParameter(handler.fn);
  if (!parameter) return { ...described, ...(takesNothing(handler) ? { takesNothing: true } : {}), warnings: [] };
  const oneByOne = handler.isBare ? inferOneByOne(graph, handler) : undefined;
  if (oneByOne !== undefined) return { ...described, ...oneByOne };
  const typed = typeOf(parameter, doc, handler, graph);
  if (!typed) return { ...described, warnings: [] };
  const reader = createTypeReader(typed.graph);
  const schema = reader.toSchema(typed.type, typed.scope);
  if (Object.keys(schema).length === 0) return { ...described, warnings: reader.warnings };
  if (schema.type !== 'object') {
    const warnings = [
      'The first parameter of the handler is not an object: arguments come as one object, so its type is left out.',
    ];
    return { ...described, warnings };
  }
  return { ...described, input: withDefaults(schema, parameter), warnings: reader.warnings };
}

/** The schema of a function that takes its arguments one by one, by their names; undefined for one that takes an object. */
function inferOneByOne(graph: ModuleGraph, { module, fn }: HandlerNode): Pick<InferredHandler, 'input' | 'warnings'> | undefined {
  const reader = createTypeReader(graph);
  const read = fn.params.flatMap((parameter) => {
    const pattern = parameter.type === 'AssignmentPattern' ? parameter.left : parameter;
    if (pattern.type !== 'Identifier' || isContextName(pattern.name)) return [];
    const annotation = pattern.typeAnnotation?.typeAnnotation;
    const schema = annotation ? reader.toSchema(annotation, { module, parameters: new Map() }) : {};
    const fallback = parameter.type === 'AssignmentPattern' ? literalValue(parameter.right) : undefined;
    const isRequired = parameter.type !== 'AssignmentPattern' && !pattern.optional;
    return [{ name: pattern.name, schema: fallback === undefined ? schema : { ...schema, default: fallback }, isRequired }];
  });
  const [first] = read;
  const takesValues =
    first !== undefined && (read.length > 1 || (first.schema.type !== undefined && first.schema.type !== 'object'));
  if (!takesValues) return undefined;
  const required = read.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const properties = Object.fromEntries(read.map(({ name, schema }) => [name, schema]));
  return { input: { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }, warnings: reader.warnings };
}

/** True for a function without parameters that does not look at `arguments` either. */
function takesNothing({ module, fn }: HandlerNode): boolean {
  return fn.params.length === 0 && !module.text.slice(fn.start, fn.end).includes('arguments');
}

function isContextName(name: string): boolean {
  return /^_*(?:context|ctx|extra|options|opts|config)$/i.test(name);
}

function firstParameter(fn: FunctionNode | ArrowFunctionExpression): ParamPattern | undefined {
  const [first, second] = fn.params;
  return first?.type === 'Identifier' && first.name === 'this' ? second : first;
}

function typeOf(
  parameter: ParamPattern,
  doc: DocComment | undefined,
  handler: HandlerNode,
  graph: ModuleGraph,
): { type: TSType; scope: TypeScope; graph: ModuleGraph } | undefined {
  const pattern = parameter.type === 'AssignmentPattern' ? parameter.left : parameter;
  const annotation = 'typeAnnotation' in pattern ? pattern.typeAnnotation : undefined;
  if (annotation) return { type: annotation.typeAnnotation, scope: { module: handler.module, parameters: new Map() }, graph };
  return doc && jsdocParameterType(doc, pattern.type === 'Identifier' ? pattern.name : undefined);
}

/** `({ days = 3 }: Args)` says a default, so the argument may be left out. */
function withDefaults(schema: JsonSchema, parameter: ParamPattern): JsonSchema {
  const pattern = parameter.type === 'AssignmentPattern' ? parameter.left : parameter;
  const { properties } = schema;
  if (pattern.type !== 'ObjectPattern' || !isObject(properties)) return schema;
  const defaults = defaultsOf(pattern).filter(([name]) => isObject(properties[name]));
  if (defaults.length === 0) return schema;
  const merged: Record<string, unknown> = { ...properties };
  for (const [name, value] of defaults)
    merged[name] = { ...(isObject(properties[name]) ? properties[name] : {}), default: value };
  const defaulted = new Set(defaults.map(([name]) => name));
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => !defaulted.has(String(name))) : [];
  const { required: _, ...rest } = schema;
  return { ...rest, properties: merged, ...(required.length > 0 ? { required } : {}) };
}

function defaultsOf(pattern: ObjectPattern): Array<[string, unknown]> {
  return pattern.properties.flatMap((property): Array<[string, unknown]> => {
    if (property.type !== 'Property' || property.computed || property.value.type !== 'AssignmentPattern') return [];
    const name = keyName(property.key);
    const value = literalValue(property.value.right);
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
}
