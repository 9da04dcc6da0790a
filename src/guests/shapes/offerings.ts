/** Prompts and resources of MCP servers, brought to the form of a plugin's. */
import { absentPart, isRecord, setCurrent } from './late.ts';
import { makeExtra } from './read-tool.ts';
import { describeOne, isStandard, toParameters } from './schemas.ts';

type Json = Record<string, unknown>;
type AnyFunction = (...args: unknown[]) => unknown;
type Ask = (request: Json, extra: unknown) => unknown;

/** What a server was told to offer, by the names that a plugin may give. */
export interface Offered {
  readonly prompts: Json;
  readonly resources: Json;
}

const globals = globalThis as unknown as { URL: new (text: string) => unknown };

/** The values that `completable(schema, complete)` keeps for its schema. */
const completions = new WeakMap<object, AnyFunction>();

export function completable(schema: unknown, complete: unknown): unknown {
  if (isRecord(schema) && typeof complete === 'function') completions.set(schema, complete as AnyFunction);
  return schema;
}

/** `new ResourceTemplate(template, { complete })`; those that `list` would find are not listed. */
export class ResourceTemplate {
  readonly template: string;
  readonly complete: unknown;

  constructor(template: unknown, callbacks: unknown = {}) {
    this.template = String(template);
    this.complete = isRecord(callbacks) ? callbacks.complete : undefined;
  }
}

/** Takes `prompt(name, description?, shape?, handler)` and `registerPrompt(name, { title, description, argsSchema }, handler)`. */
export function recordPrompt(offered: Offered, name: unknown, rest: readonly unknown[]): void {
  const handler = rest.findLast((each) => typeof each === 'function') as AnyFunction | undefined;
  if (handler === undefined) return;
  let config: Json = {};
  for (const each of rest) {
    if (typeof each === 'string') config.description = each;
    else if (!isRecord(each) || typeof each === 'function') continue;
    else if ('argsSchema' in each || 'description' in each || 'title' in each) config = { ...config, ...each };
    else config.argsSchema = each;
  }
  const { title, description, argsSchema } = config;
  const parameters = argsSchema === undefined ? undefined : toParameters(argsSchema);
  put(offered.prompts, name, {
    ...words({ title, description }),
    ...(parameters === undefined ? {} : { arguments: listArguments(parameters, argsSchema) }),
    handler: async (args: unknown, context: unknown) => {
      const extra = begin(context);
      return parameters === undefined ? handler(extra) : handler(await parse(parameters, args), extra);
    },
  });
}

/** Takes `resource(name, address, metadata?, read)` and `registerResource(name, address, config, read)`. */
export function recordResource(offered: Offered, name: unknown, address: unknown, rest: readonly unknown[]): void {
  const read = rest.findLast((each) => typeof each === 'function') as AnyFunction | undefined;
  const [config] = rest;
  if (read === undefined) return;
  const { title, description, mimeType, size } = isRecord(config) && typeof config !== 'function' ? config : {};
  const facts = { ...words({ title, description, mimeType }), ...(typeof size === 'number' ? { size } : {}) };
  const template = address instanceof ResourceTemplate ? address : undefined;
  const uri = template?.template ?? String(address);
  put(offered.resources, name, {
    ...facts,
    ...(template === undefined ? { uri } : { uriTemplate: uri, ...completeBy(template.complete) }),
    read: (params: unknown, context: unknown) => {
      const given = isRecord(params) ? params : {};
      const extra = begin(context);
      const url = new globals.URL(expand(uri, given));
      return template === undefined ? read(url, extra) : read(url, given, extra);
    },
  });
}

/** What a low-level server answers to clients that list, get and read. */
export async function readOffered(offered: Offered, handlers: ReadonlyMap<string, Ask>): Promise<void> {
  const list = async (method: string, key: string): Promise<Json[]> => {
    const answer = await handlers.get(method)?.({ method, params: {} }, {});
    const items: unknown = isRecord(answer) ? answer[key] : undefined;
    return Array.isArray(items) ? items.filter(isRecord) : [];
  };
  const get = handlers.get('prompts/get');
  const read = handlers.get('resources/read');
  for (const prompt of get === undefined ? [] : await list('prompts/list', 'prompts')) {
    put(offered.prompts, prompt.name, {
      ...words(prompt),
      arguments: Array.isArray(prompt.arguments) ? prompt.arguments : [],
      handler: (args: unknown, context: unknown) =>
        get?.({ method: 'prompts/get', params: { name: prompt.name, arguments: args } }, begin(context)),
    });
  }
  if (read === undefined) return;
  const take = (resource: Json, address: Json, uri: string): void =>
    put(offered.resources, resource.name ?? uri, {
      ...words(resource),
      ...(typeof resource.size === 'number' ? { size: resource.size } : {}),
      ...address,
      read: (params: unknown, context: unknown) =>
        read({ method: 'resources/read', params: { uri: expand(uri, isRecord(params) ? params : {}) } }, begin(context)),
    });
  for (const resource of await list('resources/list', 'resources')) take(resource, { uri: resource.uri }, String(resource.uri));
  for (const resource of await list('resources/templates/list', 'resourceTemplates'))
    take(resource, { uriTemplate: resource.uriTemplate }, String(resource.uriTemplate));
}

/** Templates with operators and more than the daemon takes are left out. */
function put(table: Json, name: unknown, offering: Json): void {
  const { uriTemplate } = offering;
  if (typeof uriTemplate === 'string' && /\{[^}]*[^A-Za-z0-9_}][^}]*\}|\}\{/.test(uriTemplate)) return;
  const plain = String(name)
    .replace(/[^a-zA-Z0-9_-]+/g, '_')
    .slice(0, 60);
  let free = plain === '' ? 'unnamed' : plain;
  for (let count = 2; free in table; count++) free = `${plain}_${count}`;
  if (Object.keys(table).length < 64) table[free] = offering;
}

function words({ title, description, mimeType }: Json): Json {
  const given = Object.entries({ title, description, mimeType });
  return Object.fromEntries(given.flatMap(([key, value]) => (typeof value === 'string' && value !== '' ? [[key, value]] : [])));
}

function begin(context: unknown): Json {
  setCurrent(context);
  return makeExtra(isRecord(context) ? context : {});
}

function listArguments(parameters: unknown, shape: unknown): Json[] {
  const described = isStandard(parameters) ? describeOne(parameters) : parameters;
  const { properties, required } = isRecord(described) ? described : {};
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isRecord(properties) ? properties : {}).map(([name, property]) => {
    const schema = isRecord(shape) ? shape[name] : undefined;
    const complete = isRecord(schema) ? completions.get(schema) : undefined;
    const withContext = (value: string, others: Json) => complete?.(value, { arguments: others });
    return {
      name,
      ...(isRecord(property) ? words({ description: property.description }) : {}),
      required: needed.includes(name),
      ...(complete === undefined ? {} : { complete: withContext }),
    };
  });
}

async function parse(parameters: unknown, args: unknown): Promise<unknown> {
  if (!isStandard(parameters)) return args;
  const checked: unknown = await parameters['~standard'].validate(args);
  if (isRecord(checked) && Array.isArray(checked.issues)) {
    const told = checked.issues.map((issue: unknown) => (isRecord(issue) ? String(issue.message) : 'it does not fit'));
    throw new Error(`The arguments of the prompt do not fit: ${told.join('; ')}.`);
  }
  return isRecord(checked) ? checked.value : args;
}

function completeBy(complete: unknown): Json {
  if (!isRecord(complete)) return {};
  const entries = Object.entries(complete).filter(([, fn]) => typeof fn === 'function');
  const wrap = (fn: unknown) => (value: string, others: Json) => (fn as AnyFunction)(value, { arguments: others });
  return { complete: Object.fromEntries(entries.map(([name, fn]) => [name, wrap(fn)])) };
}

function expand(template: string, values: Json): string {
  return template.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(String(values[name] ?? '')));
}

/** What `registerPrompt` and `registerResource` hand back. */
export function registration(): unknown {
  return { enabled: true, enable() {}, disable() {}, remove() {}, update() {}, sendNotification: absentPart('sendNotification') };
}
