import { hash } from 'node:crypto';
import { omitUndefined, readJson } from '../../config/json-object.ts';
import { describeUntrustedValue } from '../../permissions/untrusted-text.ts';
import { nameFromFile } from '../../plugins/discovery/entry-names.ts';
import type { ApiDescription, ApiOperation, ApiWish } from './read-operations.ts';

/** What the first lines of a plugin say of how it was made. */
export interface PluginOrigin {
  readonly source?: string;
  readonly operations?: readonly string[];
  readonly server?: string;
  /** The rest of the file is as it was written. */
  readonly isUntouched: boolean;
}

/** What every plugin of an API has in it. */
const frame = `/** What is sent, and where each argument goes. */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly values?: readonly (readonly [argument: string, name: string, place: string, style: string])[];
  readonly body?: string;
  readonly secrets?: readonly (readonly [secret: string, place: string, name: string, form: string])[];
}

async function send(context: Context, { method, path, values = [], body, secrets = [] }: Sent, given: object) {
  const args = new Map(Object.entries(given));
  const query: string[] = [];
  const cookies: string[] = [];
  const headers = new Headers({ accept: 'application/json, text/*;q=0.9, */*;q=0.1' });
  let filled = path;
  for (const [argument, name, place, style] of values) {
    const value: unknown = args.get(argument);
    if (value === undefined || value === null) continue;
    const text = spread(name, value, style)[0]?.[1] ?? '';
    if (place === 'path') filled = filled.replaceAll(\`{\${name}}\`, () => encodeURIComponent(text));
    else if (place === 'header') headers.set(name, text);
    else if (place === 'cookie') cookies.push(\`\${name}=\${encodeURIComponent(text)}\`);
    else for (const [key, each] of spread(name, value, style)) query.push(\`\${encodeURIComponent(key)}=\${encodeURIComponent(each)}\`);
  }
  // An argument may not lead to another operation.
  const isStraight = filled.split('/').every((part, at) => part === path.split('/')[at] || !/^(?:\\.|%2e){0,2}$/i.test(part));
  if (!isStraight) throw new Error('An argument of the path may not be empty, "." or "..".');
  for (const [secret, place, name, form] of secrets) {
    const value = context.env.get(secret);
    const setting = \`hotcell secret set \${secret} --host \${new URL(server).host} --\${place === 'cookie' ? 'header cookie' : \`\${place} \${name}\`}\`;
    if (value === undefined) throw new Error(\`The secret \${secret} is not there. Set it: \${setting}\`);
    if (place === 'query') query.push(\`\${encodeURIComponent(name)}=\${value}\`);
    else if (place === 'cookie') cookies.push(\`\${name}=\${value}\`);
    else headers.set(name, form === 'bearer' ? \`Bearer \${value}\` : form === 'basic' ? \`Basic \${btoa(value)}\` : value);
  }
  if (cookies.length > 0) headers.set('cookie', cookies.join('; '));
  const content = body === undefined ? undefined : args.get('body');
  if (body !== undefined && content !== undefined) headers.set('content-type', body);
  const response = await context.fetch(\`\${server}\${filled}\${query.length === 0 ? '' : \`?\${query.join('&')}\`}\`, {
    method,
    headers,
    ...(content === undefined ? {} : { body: write(body ?? '', content) }),
  });
  if (response.ok) return response.status === 204 ? null : response;
  throw new Error(\`\${method} \${filled} answered \${response.status}: \${(await response.text()).slice(0, 2000)}\`);
}

function write(type: string, content: unknown): string {
  if (type === 'application/x-www-form-urlencoded')
    return new URLSearchParams(spreadForm(content)).toString();
  return type === 'text/plain' ? textOf(content) : JSON.stringify(content);
}

/** A list in a form is its name once for each value. */
function spreadForm(content: unknown): string[][] {
  const fields: [string, unknown][] = typeof content === 'object' && content !== null ? Object.entries(content) : [['body', content]];
  return fields.flatMap(([key, value]) => (Array.isArray(value) ? value : [value]).map((each: unknown) => [key, textOf(each)]));
}

/** A list or an object as the API reads it in an address. */
function spread(name: string, value: unknown, style: string): (readonly [string, string])[] {
  if (style === 'json' || typeof value !== 'object' || value === null)
    return [[name, style === 'json' ? JSON.stringify(value) : textOf(value)]];
  const separator = style === 'space' ? ' ' : style === 'pipe' ? '|' : ',';
  if (Array.isArray(value))
    return style === 'form' ? value.map((each) => [name, textOf(each)] as const) : [[name, value.map(textOf).join(separator)]];
  const entries = Object.entries(value);
  if (style === 'deep') return entries.map(([key, each]) => [\`\${name}[\${key}]\`, textOf(each)] as const);
  if (style === 'form') return entries.map(([key, each]) => [key, textOf(each)] as const);
  return [[name, entries.map(([key, each]) => \`\${key}\${separator}\${textOf(each)}\`).join(separator)]];
}

function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}
`;

const mark = '// @made: ';
const maxLineChars = 120;

/** What every plugin of an API reaches for, by which what it reaches for beside that is told apart. */
export const usualReaches = `import 'hotcell'\npermissions:\nidempotent:\nisSideEffect:\nisDangerous:\n${frame}`;

/**
 * Writes the plugin of an API. Words of the description stand in JSON literals only, in which nothing is unseen: none of them can end
 * a text, and none stands in a comment.
 */
export function writePlugin(
  { title, version, server, operations }: ApiDescription,
  { name, source, operations: chosen, server: given }: ApiWish,
): string {
  const secrets = [...new Set(operations.flatMap((operation) => operation.secrets.map(({ name }) => name)))];
  const permissions = { net: [new URL(server).host], ...(secrets.length === 0 ? {} : { env: secrets }) };
  const refresh = `hotcell plugin refresh ${nameFromFile(name)}${source === undefined ? ' --from FILE' : ''}`;
  const body = `// Made from the description of an API. What changed of it since is proposed by: ${refresh}
import { type Context, definePlugin, defineTool } from 'hotcell';

const server = ${literal(server)};

export default definePlugin({
  version: ${literal(version)},
  description: ${literal(title)},
  permissions: ${literal(permissions)},
  tools: {
${operations.map(writeTool).join('')}  },
});

${frame}`;
  const head = [
    ...(source === undefined ? [] : [`// @source: ${source}`]),
    ...(chosen === undefined ? [] : [`// @operations: ${describeUntrustedValue(chosen)}`]),
    ...(given === undefined ? [] : [`// @server: ${literal(given)}`]),
    `${mark}${hash('sha256', body, 'hex').slice(0, 32)}`,
  ];
  return `${head.join('\n')}\n${body}`;
}

function writeTool({ tool, method, path, description, parameters, values, body, secrets, example }: ApiOperation): string {
  const sent = omitUndefined({
    method,
    path,
    values: values.length === 0 ? undefined : values,
    body,
    secrets: secrets.length === 0 ? undefined : secrets.map(({ name, place, as, form }) => [name, place, as, form]),
  });
  const lines = Object.entries(sent).map(([key, value]) => `          ${key}: ${describeUntrustedValue(value)},\n`);
  return `    ${tool.includes('-') ? literal(tool) : tool}: defineTool({
      description: ${literal(description)},
      parameters: ${literal(parameters, 6)},
${flagsOf(method)
  .map((flag) => `      ${flag}: true,\n`)
  .join('')}${example === undefined ? '' : `      examples: [{ args: ${literal(example)} }],\n`}      handler: (args, context) =>
        send(context, {
${lines.join('')}        }, args),
    }),
`;
}

/** What HTTP promises of a method. */
function flagsOf(method: string): readonly string[] {
  if (method === 'GET' || method === 'HEAD') return ['idempotent', 'isParallelSafe'];
  if (method === 'DELETE') return ['isSideEffect', 'idempotent', 'isDangerous'];
  return method === 'PUT' ? ['isSideEffect', 'idempotent'] : ['isSideEffect'];
}

/** What is long stands on lines of its own: a person reads it. */
function literal(value: unknown, indent = 2): string {
  const line = describeUntrustedValue(value);
  if (line.length <= maxLineChars || typeof value === 'string') return line;
  return describeUntrustedValue(value, 2).replaceAll('\n', `\n${' '.repeat(indent)}`);
}

/** Reads how a plugin was made; undefined for one that was not made from a description. */
export function readOrigin(text: string): PluginOrigin | undefined {
  const lines = text.split('\n', 5);
  const at = lines.findIndex((line) => line.startsWith(mark));
  const made = lines[at]?.slice(mark.length).trim();
  if (at < 0 || made === undefined) return undefined;
  const head = lines.slice(0, at);
  const read = (word: string) => head.find((line) => line.startsWith(`// @${word}: `))?.slice(word.length + 6);
  const operations = readJson(read('operations'));
  const server = readJson(read('server'));
  const body = text
    .split('\n')
    .slice(at + 1)
    .join('\n');
  return {
    isUntouched: hash('sha256', body, 'hex').startsWith(made) && made.length === 32,
    ...omitUndefined({
      source: read('source'),
      operations: Array.isArray(operations) ? operations.map(String) : undefined,
      server: typeof server === 'string' ? server : undefined,
    }),
  };
}
