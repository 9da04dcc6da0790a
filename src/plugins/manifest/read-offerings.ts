import { isObject, omitUndefined } from '../../config/json-object.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import {
  callNameOf,
  type OfferingKind,
  type Offerings,
  type PromptArgument,
  type PromptManifest,
  type ResourceManifest,
} from '../../units/offering.ts';
import { outputSchemas } from '../../units/offering-output.ts';
import type { ToolManifest } from '../../units/tool-manifest.ts';
import { findUriFault, readUriTemplate } from '../../units/uri-template.ts';
import {
  checkKeys,
  invalidField,
  isFunctionMark,
  type ManifestNode,
  pathOf,
  readBoolean,
  readInteger,
  readObject,
  readTextField,
} from './manifest-fields.ts';
import { maxDescription, readTool, type ToolContext, toolKeys } from './read-tool.ts';

const promptKeys = ['title', 'description', 'arguments', 'handler', 'metadata'];
const resourceKeys = ['title', 'description', 'uri', 'uriTemplate', 'mimeType', 'size', 'read', 'complete', 'metadata'];
const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;
/** What the words of a tool mean, beside its schemas and its function, they mean here too. */
const sharedKeys = toolKeys.filter((key) => !['parameters', 'output', 'handler', 'usage', 'examples'].includes(key));
const maxOfferings = 64;
const maxArguments = 32;
const maxCompletions = 1000;
const maxTitle = 200;

type Completions = PromptManifest['completions'];

/** Reads `prompts` and `resources` of a plugin. Throws `manifest-invalid`. */
export function readOfferings(plugin: ManifestNode, context: Pick<ToolContext, 'warn'>): Offerings {
  const prompts = readEach(plugin, 'prompts').map(([name, node]) => readPrompt(name, node, { ...context, defaults: plugin }));
  const resources = readEach(plugin, 'resources').map(([name, node]) =>
    readResource(name, node, { ...context, defaults: plugin }),
  );
  const uris = resources.map(({ uri }) => uri);
  const twice = resources.find(({ uri }, at) => uris.indexOf(uri) !== at);
  if (twice !== undefined) throw invalidField(`resources.${twice.name}.uri`, 'the address of no other resource', twice.uri);
  return { ...(prompts.length > 0 && { prompts }), ...(resources.length > 0 && { resources }) };
}

function readEach(plugin: ManifestNode, key: 'prompts' | 'resources'): Array<[string, ManifestNode]> {
  const table = readObject(plugin, key);
  if (table === undefined) return [];
  const names = Object.keys(table.data);
  if (Array.isArray(table.data) || names.length > maxOfferings) {
    throw invalidField(table.path, `an object with at most ${maxOfferings} ${key} by their names`, table.data);
  }
  return names.flatMap((name): Array<[string, ManifestNode]> => {
    if (!namePattern.test(name)) {
      throw new HotcellError('manifest-invalid', `${JSON.stringify(name.slice(0, 80))} cannot be a name in "${key}".`, {
        facts: { key: table.path },
        fix: 'Use 1 to 64 letters, digits, "_" or "-", and put other words into its title.',
      });
    }
    const node = readObject(table, name);
    return node === undefined ? [] : [[name, node]];
  });
}

function readPrompt(name: string, node: ManifestNode, context: OfferingContext): PromptManifest {
  checkKeys(node, [...promptKeys, ...sharedKeys]);
  const args = readArguments(node);
  const properties = Object.fromEntries(args.map(({ name: each, description }) => [each, { type: 'string', description }]));
  const required = args.filter((each) => each.required).map((each) => each.name);
  const call = readCall(node, 'prompt', { ...context, name, work: 'handler', properties, required });
  const completions = Object.fromEntries(
    args.flatMap(
      (each): Array<[string, Completions[string]]> =>
        each.complete === undefined ? [] : [[each.name, readCompletion(each.complete, `${each.path}.complete`)]],
    ),
  );
  return {
    kind: 'prompt',
    name,
    ...readTitle(node),
    description: call.description,
    arguments: args.map(({ path: _path, complete: _complete, ...shown }) => shown),
    completions,
    call,
  };
}

function readResource(name: string, node: ManifestNode, context: OfferingContext): ResourceManifest {
  checkKeys(node, [...resourceKeys, ...sharedKeys]);
  const { uri, isTemplate, variables } = readAddress(node);
  const properties = Object.fromEntries(variables.map((variable) => [variable, { type: 'string' }]));
  const call = readCall(node, 'resource', { ...context, name, work: 'read', properties, required: variables });
  const table = readObject(node, 'complete');
  if (table !== undefined) checkKeys(table, variables);
  const completions = Object.fromEntries(
    Object.entries(table?.data ?? {}).map(([variable, value]) => [variable, readCompletion(value, `${table?.path}.${variable}`)]),
  );
  const mimeType = readTextField(node, 'mimeType', 200);
  const size = readInteger(node, 'size', { min: 0, max: Number.MAX_SAFE_INTEGER });
  return {
    kind: 'resource',
    name,
    ...readTitle(node),
    description: call.description,
    uri,
    isTemplate,
    ...omitUndefined({ mimeType, size }),
    completions,
    call,
  };
}

interface OfferingContext extends Pick<ToolContext, 'warn'> {
  readonly defaults: ManifestNode;
}

/** A prompt or a resource is called like a tool: what the words of a tool mean, they mean here too. */
function readCall(
  node: ManifestNode,
  kind: OfferingKind,
  {
    name,
    work,
    properties,
    required,
    ...context
  }: OfferingContext & {
    readonly name: string;
    readonly work: 'handler' | 'read';
    readonly properties: Readonly<Record<string, object>>;
    readonly required: readonly string[];
  },
): ToolManifest {
  if (!isFunctionMark(node.data[work])) {
    throw invalidField(pathOf(node, work), 'a function', node.data[work], `Write: ${work}: async (args, context) => { … }.`);
  }
  const callName = callNameOf({ kind, name });
  const shared = Object.fromEntries(sharedKeys.flatMap((key) => (key in node.data ? [[key, node.data[key]]] : [])));
  const parameters = { type: 'object', properties, required, additionalProperties: false };
  const description = readTextField(node, 'description', maxDescription) || readTextField(node, 'title', maxTitle);
  const tool = readTool(
    { path: node.path, data: { ...shared, description: description ?? name, parameters, handler: { $function: true } } },
    { ...context, name: callName, handler: callName, inferred: undefined },
  );
  return { ...tool, description: description ?? '', output: outputSchemas[kind] };
}

function readTitle(node: ManifestNode): { title?: string } {
  const title = readTextField(node, 'title', maxTitle);
  return title ? { title } : {};
}

interface ReadArgument extends PromptArgument {
  readonly path: string;
  readonly complete: unknown;
}

/** `{ NAME: { description, … } }`, or a list of `{ name, description, … }`. */
function readArguments(node: ManifestNode): ReadArgument[] {
  const { arguments: given } = node.data;
  const path = pathOf(node, 'arguments');
  if (given === undefined) return [];
  if (!isObject(given) && !Array.isArray(given)) throw invalidField(path, 'an object of arguments by their names', given);
  const entries: Array<[string, unknown]> = Array.isArray(given)
    ? given.map((each: unknown) => [isObject(each) && typeof each.name === 'string' ? each.name : '', each])
    : Object.entries(given);
  if (entries.length > maxArguments) throw invalidField(path, `at most ${maxArguments} arguments`, given);
  const seen = new Set<string>();
  return entries.map(([name, value], at) => {
    const own = Array.isArray(given) ? `${path}.${at}` : `${path}.${name}`;
    if (!namePattern.test(name) || seen.has(name)) {
      throw invalidField(own, 'named with 1 to 64 letters, digits, "_" or "-", and unlike the others', name);
    }
    seen.add(name);
    if (!isObject(value) || isFunctionMark(value)) throw invalidField(own, 'an object { description?, required? }', value);
    const argument = { path: own, data: value };
    checkKeys(argument, ['name', 'title', 'description', 'required', 'complete']);
    const description = readTextField(argument, 'description', maxDescription);
    const required = readBoolean(argument, 'required');
    return {
      name,
      ...readTitle(argument),
      ...(description ? { description } : {}),
      ...(required === undefined ? {} : { required }),
      path: own,
      complete: value.complete,
    };
  });
}

function readAddress(node: ManifestNode): { uri: string; isTemplate: boolean; variables: readonly string[] } {
  const { uri, uriTemplate } = node.data;
  if (uriTemplate === undefined) {
    const path = pathOf(node, 'uri');
    if (typeof uri !== 'string') throw invalidField(path, 'an address such as "notes://all"', uri);
    const fault = findUriFault(uri);
    if (fault !== undefined) throw invalidField(path, fault, uri);
    return { uri, isTemplate: false, variables: [] };
  }
  const path = pathOf(node, 'uriTemplate');
  if (uri !== undefined) throw invalidField(path, 'left out beside "uri"', uriTemplate);
  if (typeof uriTemplate !== 'string') throw invalidField(path, 'a template such as "notes://{id}"', uriTemplate);
  const template = readUriTemplate(uriTemplate);
  if (typeof template === 'string') throw invalidField(path, template, uriTemplate);
  return { uri: uriTemplate, isTemplate: true, variables: template.variables };
}

function readCompletion(value: unknown, path: string): readonly string[] | 'asked' {
  if (isFunctionMark(value)) return 'asked';
  const isList = Array.isArray(value) && value.length <= maxCompletions && value.every((each) => typeof each === 'string');
  if (!isList) throw invalidField(path, `a list of at most ${maxCompletions} texts, or a function`, value);
  return value;
}
