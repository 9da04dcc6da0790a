import type { Node, TemplateLiteral } from 'oxc-parser';
import type { PermissionSet } from '../../config/permission-set.ts';
import { joinPermissions } from '../../permissions/decision.ts';
import { createContextUses } from './context-uses.ts';
import type { ModuleIndex } from './module-index.ts';
import { keyName, walkNodes } from './walk-nodes.ts';

const maxEntries = 64;
/** Property names whose URLs are text for people or names of vocabularies, not addresses to call. */
const describingKeys: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$ref',
  'xmlns',
  'description',
  'usage',
  'homepage',
  'sourceUrl',
  'title',
  'examples',
]);
/** Hosts of names that look like addresses. */
const vocabularyHosts: ReadonlySet<string> = new Set(['www.w3.org', 'json-schema.org', 'schema.org', 'example.com']);

/**
 * What a plugin without a permissions block seems to need: `net` from the hosts of literal URLs, `env` from the names
 * it passes to `config.get`, `env.get` and `process.env`, the rest from what it does with its context. A request for the
 * operator to look at, never a grant.
 */
export function inferPermissions(modules: readonly ModuleIndex[]): PermissionSet {
  let used: PermissionSet = {};
  const hosts = new Set<string>();
  const names = new Set<string>();
  let mayFetch = false;
  for (const module of modules) {
    mayFetch ||= [...module.imports.values()].some(({ source }) => !/^(\.|node:|hotcell$)/.test(source));
    const uses = createContextUses(module);
    walkNodes(module.program, (node, parents) => {
      uses.note(node);
      if (node.type === 'Identifier' && node.name === 'fetch') mayFetch = true;
      const host = describes(parents) ? undefined : hostOf(node);
      if (host !== undefined && hosts.size < maxEntries) hosts.add(host);
      for (const name of envNames(node)) if (names.size < maxEntries) names.add(name);
    });
    mayFetch ||= uses.mayFetch();
    used = joinPermissions(used, uses.permissions());
  }
  return {
    ...used,
    ...(hosts.size > 0 && mayFetch ? { net: [...hosts].sort() } : {}),
    ...(names.size > 0 ? { env: [...names].sort() } : {}),
  };
}

const providedNames: ReadonlySet<string> = new Set(['NODE_ENV']);

/** Variables that a plugin reads from `process.env` outside of any function: while a file loads there are none. */
export function findEarlyReads(modules: readonly ModuleIndex[]): string[] {
  const names = new Set<string>();
  for (const module of modules.filter(({ text }) => text.includes('process'))) {
    walkNodes(module.program, (node, parents) => {
      if (node.type === 'CallExpression' || parents.some(isFunction)) return;
      for (const name of envNames(node)) if (names.size < maxEntries && !providedNames.has(name)) names.add(name);
    });
  }
  return [...names].sort();
}

function isFunction({ type }: Node): boolean {
  return type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression';
}

function hostOf(node: Node): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return hostOfUrl(node.value);
  return node.type === 'TemplateLiteral' ? hostOfTemplate(node) : undefined;
}

/** The host of `https://host/…`, with its port when it names one. */
function hostOfUrl(text: string): string | undefined {
  if (!/^https?:\/\/[^\s]+$/i.test(text) || text.length > 2000) return undefined;
  const url = URL.parse(text);
  if (!url || url.hostname === '' || vocabularyHosts.has(url.hostname)) return undefined;
  return url.host;
}

/** A template names its host when the host is written before the first value, or ends right behind it: `https://${x}.example.com/`. */
function hostOfTemplate(node: TemplateLiteral): string | undefined {
  const [first = '', second = ''] = node.quasis.map((quasi) => quasi.value.cooked ?? '');
  if (/^https?:\/\/[^/?#\s]+[/?#]/i.test(first)) return hostOfUrl(first.replace(/\s/g, ''));
  if (node.expressions.length === 0) return hostOfUrl(first);
  const domain = /^\.((?:[a-z0-9-]+\.)+[a-z]{2,})(?::\d+)?(?:[/?#]|$)/i.exec(second)?.[1];
  return /^https?:\/\/$/i.test(first) && domain !== undefined ? `*.${domain.toLowerCase()}` : undefined;
}

/** Names that a node reads from the environment: also those of `const { KEY } = process.env`. */
function envNames(node: Node): string[] {
  if (node.type === 'VariableDeclarator' && node.init && node.id.type === 'ObjectPattern' && isProcessEnv(node.init)) {
    const keys = node.id.properties.map((property) =>
      property.type === 'Property' && !property.computed ? keyName(property.key) : undefined,
    );
    return keys.filter(isEnvName);
  }
  const name = envName(node);
  return name === undefined ? [] : [name];
}

function envName(node: Node): string | undefined {
  if (node.type === 'CallExpression') {
    const { callee } = node;
    const [argument] = node.arguments;
    if (lastName(callee) === 'getEnvironmentVariable' && argument?.type === 'Literal' && isEnvName(argument.value)) {
      return argument.value;
    }
    if (callee.type !== 'MemberExpression' || keyName(callee.property) !== 'get') return undefined;
    if (argument?.type !== 'Literal' || !isEnvName(argument.value)) return undefined;
    return ['config', 'env'].includes(lastName(callee.object) ?? '') ? argument.value : undefined;
  }
  if (node.type !== 'MemberExpression' || !isProcessEnv(node.object)) return undefined;
  const name = node.computed && node.property.type !== 'Literal' ? undefined : keyName(node.property);
  return isEnvName(name) ? name : undefined;
}

function isEnvName(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/.test(value);
}

function isProcessEnv(node: Node): boolean {
  return node.type === 'MemberExpression' && keyName(node.property) === 'env' && lastName(node.object) === 'process';
}

function lastName(node: Node): string | undefined {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'ChainExpression' || node.type === 'TSNonNullExpression' || node.type === 'TSAsExpression')
    return lastName(node.expression);
  return node.type === 'MemberExpression' && !node.computed ? keyName(node.property) : undefined;
}

function describes(parents: readonly Node[]): boolean {
  return parents.some(
    (parent) =>
      parent.type === 'ImportDeclaration' ||
      (parent.type === 'Property' && !parent.computed && describingKeys.has(keyName(parent.key) ?? '')),
  );
}
