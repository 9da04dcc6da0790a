import semver from 'semver';
import { isObject } from '../../config/json-object.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { suggestNearNames } from '../../errors/near-names.ts';
import { refuseApi } from './read-document.ts';
import { type ApiSecret, readSecurity } from './read-security.ts';
import { cleanValue, openReferences, type References } from './references.ts';

/** Where an argument goes: its name, the name that the API has for it, and how a list or an object is written there. */
export type SentValue = readonly [argument: string, name: string, place: string, style: string];

/** One operation of an API, as a tool. */
export interface ApiOperation {
  /** As the description names it. */
  readonly id: string;
  readonly tool: string;
  readonly method: string;
  readonly path: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly values: readonly SentValue[];
  /** The media type of the argument `body`. */
  readonly body?: string;
  readonly secrets: readonly ApiSecret[];
  /** Arguments that the description gives for an example. */
  readonly example?: Readonly<Record<string, unknown>>;
}

/** What a plugin is made of. */
export interface ApiDescription {
  readonly title: string;
  readonly version: string;
  /** Without a slash at its end. */
  readonly server: string;
  readonly operations: readonly ApiOperation[];
  /** Operations that are not taken, with the reason. */
  readonly leftOut: readonly string[];
}

/** What is to be made of a description. */
export interface ApiWish {
  /** Of the plugin. */
  readonly name: string;
  /** Where the description comes from: its server may be relative to it. */
  readonly source?: string | undefined;
  /** Of all operations these, by `operationId` or as `GET /pets`. */
  readonly operations?: readonly string[] | undefined;
  /** Where the API is, in place of what the description says. */
  readonly server?: string | undefined;
}

const methods = ['get', 'head', 'post', 'put', 'patch', 'delete'];
const maxOperations = 64;
const maxPaths = 5000;
const maxDescriptionChars = 1000;
const maxParameters = 60;
const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** OpenAPI leaves these to what is sent and how. */
const ownHeaders = new Set(['accept', 'content-type', 'authorization']);
const jsonType = /^application\/(?:[\w.+-]+\+)?json$/i;

/** Reads the operations that are wished for. Throws `api-description-invalid`. */
export function readOperations(document: Record<string, unknown>, wish: ApiWish): ApiDescription {
  const found = listOperations(document);
  const chosen = choose(found, wish.operations);
  const server = readServer(document.servers, wish);
  const info = isObject(document.info) ? document.info : {};
  const operations: ApiOperation[] = [];
  const leftOut: string[] = [];
  for (const each of chosen) {
    try {
      if (each.operation.servers !== undefined || each.item.servers !== undefined) throw refuseApi('it has a server of its own');
      operations.push(readOperation(document, each, wish.name, new Set(operations.map(({ tool }) => tool))));
    } catch (error) {
      if (!(error instanceof HotcellError)) throw error;
      if (wish.operations !== undefined || chosen.length === 1) throw refuseApi(`${each.id}: ${error.message}`, error.fix);
      leftOut.push(`${each.id}: ${error.message}`);
    }
  }
  if (operations.length === 0) throw refuseApi(`None of its operations can be a tool. ${leftOut[0] ?? ''}`);
  const title = typeof info.title === 'string' ? info.title.slice(0, 200) : wish.name;
  return { title, version: semver.valid(String(info.version)) ?? '1.0.0', server, operations, leftOut };
}

interface FoundOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly item: Record<string, unknown>;
  readonly operation: Record<string, unknown>;
}

function listOperations(document: Record<string, unknown>): FoundOperation[] {
  const paths = isObject(document.paths) ? Object.entries(document.paths) : [];
  if (paths.length > maxPaths) throw refuseApi(`It has more than ${maxPaths} paths.`);
  return paths.flatMap(([path, node]) => {
    const item = openReferences(document).follow(node) ?? {};
    return methods.flatMap((method) => {
      const operation = item[method];
      if (!path.startsWith('/') || !isObject(operation)) return [];
      const { operationId } = operation;
      const id = typeof operationId === 'string' && operationId !== '' ? operationId : `${method.toUpperCase()} ${path}`;
      return [{ id: id.slice(0, 200), method: method.toUpperCase(), path, item, operation }];
    });
  });
}

function choose(found: readonly FoundOperation[], wanted: readonly string[] | undefined): readonly FoundOperation[] {
  if (found.length === 0) throw refuseApi('It has no operations.');
  const ids = found.map(({ id }) => id);
  if (wanted === undefined) {
    if (found.length <= maxOperations) return found;
    throw refuseApi(
      `It has ${found.length} operations; a plugin has at most ${maxOperations} tools.`,
      `Choose some: --operations ${ids.slice(0, 3).join(',')}`,
    );
  }
  if (wanted.length > maxOperations) throw refuseApi(`A plugin has at most ${maxOperations} tools.`);
  return [...new Set(wanted)].map((name) => {
    const chosen = found.find(({ id, method, path }) => id === name || `${method} ${path}` === name);
    if (chosen === undefined)
      throw refuseApi(`It has no operation "${name}".${suggestNearNames(name, ids)}`, `It has: ${ids.slice(0, 20).join(', ')}.`);
    return chosen;
  });
}

function readServer(servers: unknown, { server: given, source }: ApiWish): string {
  const [first] = Array.isArray(servers) ? servers.filter(isObject) : [];
  const variables = isObject(first?.variables) ? first.variables : {};
  const named = typeof first?.url === 'string' ? first.url : '/';
  const filled = named.replaceAll(/\{([^{}]+)\}/g, (_whole, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isObject(variable) ? String(variable.default ?? '') : '';
  });
  const base = source !== undefined && URL.canParse(source) ? source : undefined;
  const url = URL.parse(given ?? filled, base);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    const shown = JSON.stringify((given ?? filled).slice(0, 100));
    const reason =
      given === undefined ? 'It does not say where the API is' : `The server ${shown} that was named is no http address`;
    throw refuseApi(`${reason}.`, 'Say it: --server https://api.example.com/v1');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function readOperation(
  document: Record<string, unknown>,
  { id, method, path, item, operation }: FoundOperation,
  plugin: string,
  taken: ReadonlySet<string>,
): ApiOperation {
  const references = openReferences(document);
  if (/[?#\\\s]/.test(path)) throw refuseApi('its path is no plain path');
  const secrets = readSecurity(document, operation, references, plugin);
  if (typeof secrets === 'string') throw refuseApi(secrets);
  const properties: Record<string, unknown> = Object.create(null);
  const required: string[] = [];
  const values: SentValue[] = [];
  const example: Record<string, unknown> = Object.create(null);
  for (const parameter of readParameters(item, operation, references)) {
    const { name, place } = parameter;
    if (place === 'path' && !path.includes(`{${name}}`)) continue;
    const argument = nameArgument(name, place, new Set(['body', ...Object.keys(properties)]));
    const schema = references.expand(parameter.schema);
    const description = describe(parameter.node);
    properties[argument] = isObject(schema) && description !== '' ? { ...schema, description } : schema;
    values.push([argument, name, place, parameter.style]);
    if (parameter.isRequired) required.push(argument);
    const shown = findExample(parameter.node, parameter.schema, references);
    if (shown !== undefined) example[argument] = cleanValue(shown);
  }
  const missing = [...path.matchAll(/\{([^{}]*)\}/g)].find(
    ([, name]) => !values.some(([, known, place]) => place === 'path' && known === name),
  );
  if (missing !== undefined) throw refuseApi(`${missing[0]} of its path is no parameter`);
  const body = readBody(operation.requestBody, references);
  if (body !== undefined) {
    properties.body = references.expand(body.schema);
    if (body.isRequired) required.push('body');
  }
  const isShown = Object.keys(example).length > 0 && required.every((name) => name in example);
  return {
    id,
    tool: nameTool(plugin, id, taken),
    method,
    path,
    description:
      [describe({ description: operation.summary }), describe(operation)].filter(Boolean).join('\n') || `${method} ${path}`,
    parameters: { type: 'object', properties: { ...properties }, required, additionalProperties: false },
    values,
    ...(body === undefined ? {} : { body: body.type }),
    secrets,
    // Only what changes nothing is tried.
    ...(isShown && method === 'GET' ? { example: { ...example } } : {}),
  };
}

interface Parameter {
  readonly name: string;
  readonly place: string;
  readonly style: string;
  readonly isRequired: boolean;
  readonly schema: unknown;
  readonly node: Record<string, unknown>;
}

/** Those of an operation win over those of its path. */
function readParameters(item: Record<string, unknown>, operation: Record<string, unknown>, references: References): Parameter[] {
  const lists = [item.parameters, operation.parameters].filter((list) => Array.isArray(list)).flat();
  if (lists.length > maxParameters) throw refuseApi(`it has more than ${maxParameters} parameters`);
  const byKey = new Map<string, Parameter>();
  for (const each of lists) {
    const node = references.follow(each) ?? {};
    const { name, in: place } = node;
    if (typeof name !== 'string' || typeof place !== 'string' || !['path', 'query', 'header', 'cookie'].includes(place)) continue;
    const isField = place === 'header' || place === 'cookie';
    if (isField && (!headerName.test(name) || ownHeaders.has(name.toLowerCase()))) continue;
    const [content] = isObject(node.content) ? Object.values(node.content).filter(isObject) : [];
    byKey.set(`${place} ${name}`, {
      name,
      place,
      style: content === undefined ? readStyle(node, place) : 'json',
      isRequired: place === 'path' || node.required === true,
      schema: content === undefined ? node.schema : content.schema,
      node,
    });
  }
  return [...byKey.values()];
}

function readStyle({ style, explode }: Record<string, unknown>, place: string): string {
  if (place !== 'query') return 'comma';
  if (style === 'deepObject') return 'deep';
  if (style === 'spaceDelimited') return 'space';
  if (style === 'pipeDelimited') return 'pipe';
  return explode === false ? 'comma' : 'form';
}

/** The first body that can be written as text. */
function readBody(node: unknown, references: References) {
  if (node === undefined) return undefined;
  const { content, required } = references.follow(node) ?? {};
  const bodies = isObject(content)
    ? Object.entries(content).map(([type, media]) => [type.split(';', 1)[0]?.trim() ?? '', media] as const)
    : [];
  const isTaken = (type: string) => jsonType.test(type) || type === 'application/x-www-form-urlencoded' || type === 'text/plain';
  const [type, media] = bodies.find(([each]) => jsonType.test(each)) ?? bodies.find(([each]) => isTaken(each)) ?? [];
  if (type !== undefined) return { type, schema: isObject(media) ? media.schema : {}, isRequired: required === true };
  // Where none is required, the tool would send nothing: a description seldom says that a body has to be there.
  if (bodies.length === 0) return undefined;
  throw refuseApi(`its body is ${bodies[0]?.[0].slice(0, 60)}`);
}

function findExample(parameter: Record<string, unknown>, schema: unknown, references: References): unknown {
  const [first] = isObject(parameter.examples) ? Object.values(parameter.examples) : [];
  const { example, examples, default: usual } = references.follow(schema) ?? {};
  const [shown] = Array.isArray(examples) ? examples : [];
  return parameter.example ?? references.follow(first)?.value ?? example ?? shown ?? usual;
}

function describe({ description }: { readonly description?: unknown }): string {
  return typeof description === 'string' ? description.trim().slice(0, maxDescriptionChars) : '';
}

/** Models take letters, digits, `_`, `.` and `-` in the names of arguments. */
function nameArgument(name: string, place: string, taken: ReadonlySet<string>): string {
  const plain =
    name
      .replaceAll(/[^\w.-]+/g, '_')
      .replace(/^_+(?=proto)/, '')
      .slice(0, 60) || place;
  if (!taken.has(plain)) return plain;
  return nameArgument(`${plain.slice(0, 50)}_${place}`, 'x', taken);
}

function nameTool(plugin: string, id: string, taken: ReadonlySet<string>): string {
  const words = id.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase();
  const plain = `${plugin}_${words}`
    .replaceAll(/[^a-z\d_-]+/g, '_')
    .replaceAll(/_{2,}/g, '_')
    .replaceAll(/_+$/g, '')
    .slice(0, 60);
  for (let each = 1; ; each++) {
    const tool = each === 1 ? plain : `${plain}_${each}`;
    if (!taken.has(tool)) return tool;
  }
}
