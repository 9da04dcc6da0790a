import type { TSType } from 'oxc-parser';
import { createModuleGraph, type ModuleGraph } from '../module-graph.ts';
import type { DocComment } from './doc-comments.ts';
import type { TypeScope } from './type-scope.ts';

const maxParameters = 64;

/**
 * The type that `@param` tags give the first parameter, for plugins in JavaScript: `@param {{ city: string }} args`, or
 * `@param {object} args` with `@param {string} [args.city] - The city`.
 */
export function jsdocParameterType(
  doc: DocComment,
  name: string | undefined,
): { type: TSType; scope: TypeScope; graph: ModuleGraph } | undefined {
  const tags = doc.tags.filter((tag) => tag.name === 'param').slice(0, maxParameters);
  const parameters = tags.flatMap((tag) => parseParam(tag.text) ?? []);
  const first = parameters[0];
  if (!first) return undefined;
  const wanted = name ?? first.name.split('.')[0] ?? '';
  const nested = parameters.filter((parameter) => parameter.name.startsWith(`${wanted}.`));
  const whole = parameters.find((parameter) => parameter.name === wanted);
  const text = nested.length > 0 ? membersText(nested, wanted) : whole?.type;
  if (text === undefined || /^(any|object|\*)$/i.test(text.trim())) return undefined;
  return parseType(text);
}

interface Param {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
  readonly text: string;
}

function parseParam(text: string): Param | undefined {
  const braces = takeBraces(text.trim());
  if (!braces) return undefined;
  const match = /^\s*(\[)?\s*([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)(?:\s*=[^\]]*)?\]?\s*(?:-\s*)?([\s\S]*)$/.exec(braces.rest);
  if (!match?.[2]) return undefined;
  const isOptional = match[1] !== undefined || braces.inside.endsWith('=');
  return { name: match[2], type: braces.inside.replace(/=$/, ''), optional: isOptional, text: match[3]?.trim() ?? '' };
}

function takeBraces(text: string): { inside: string; rest: string } | undefined {
  if (!text.startsWith('{')) return undefined;
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '{') depth += 1;
    if (text[index] === '}') depth -= 1;
    if (depth === 0) return { inside: text.slice(1, index), rest: text.slice(index + 1) };
  }
  return undefined;
}

// Deeper members (args.a.b) are left to the type of args.a.
function membersText(parameters: readonly Param[], owner: string): string {
  const members = parameters
    .map((parameter) => ({ ...parameter, name: parameter.name.slice(owner.length + 1) }))
    .filter((parameter) => !parameter.name.includes('.'))
    .map(({ name, type, optional, text }) => `${describe(text)}${name}${optional ? '?' : ''}: ${type || 'any'};`);
  return `{\n${members.join('\n')}\n}`;
}

function describe(text: string): string {
  return text === '' ? '' : `/** ${text.replaceAll('*/', '* /').replace(/\s+/g, ' ')} */ `;
}

function parseType(text: string): { type: TSType; scope: TypeScope; graph: ModuleGraph } | undefined {
  const graph = createModuleGraph([{ path: 'jsdoc.ts', text: `type Parameter = ${text};` }]);
  const module = graph.get('jsdoc.ts');
  const declaration = module?.types.get('Parameter')?.[0];
  if (!module || declaration?.type !== 'TSTypeAliasDeclaration') return undefined;
  return { type: declaration.typeAnnotation, scope: { module, parameters: new Map() }, graph };
}
