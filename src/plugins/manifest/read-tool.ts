import { isObject, omitUndefined } from '../../config/json-object.ts';
import { limitTable } from '../../config/limits.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import {
  type JsonSchema,
  type SchemaSource,
  setFlags,
  type ToolFlags,
  type ToolManifest,
  toolFlags,
} from '../../units/tool-manifest.ts';
import type { InferredHandler } from '../schema/read-result.ts';
import { parseUsageToSchema } from '../schema/usage.ts';
import {
  invalidField,
  isFunctionMark,
  type ManifestNode,
  pathOf,
  readBoolean,
  readChoice,
  readInteger,
  readTextField,
} from './manifest-fields.ts';
import { anyObject, fitsSchemaBound, readParameters, readSchema } from './parameter-schema.ts';

/** Keys of one tool; a plugin has them too, where they hold for its handler and as defaults for its `tools`. */
export const toolKeys = [
  'description',
  'usage',
  'parameters',
  'output',
  'handler',
  ...toolFlags,
  'tags',
  'mode',
  'who',
  'task',
  'timeoutMs',
  'retries',
  'idempotent',
  'examples',
] as const;

/** Longest description, in characters. */
export const maxDescription = 8192;
const maxUsage = 2048;
const maxRetries = 5;
const maxTags = 32;
const maxExamples = 50;

/** What is known about one tool before its own keys are read. */
export interface ToolContext {
  readonly name: string;
  /** The key that engines know the handler by. */
  readonly handler: string;
  readonly inferred: InferredHandler | undefined;
  /** The plugin around a tool of `tools`: its flags, tags, mode, time-out and retries are defaults. */
  readonly defaults?: ManifestNode;
  readonly warn: (warning: string) => void;
}

/** Reads one tool. Throws `manifest-invalid`. */
export function readTool(node: ManifestNode, context: ToolContext): ToolManifest {
  const { handler } = node.data;
  if (!isFunctionMark(handler)) {
    throw invalidField(pathOf(node, 'handler'), 'a function', handler, 'Write: handler: async (args, context) => { … }.');
  }
  const usage = readTextField(node, 'usage', maxUsage);
  const { input, inputSource, isParsed } = readInput(node, usage, context);
  const output = node.data.output === undefined ? undefined : readSchema(node.data.output, pathOf(node, 'output'));
  const checkedByPlugin = [...(isParsed ? ['input' as const] : []), ...(output?.isParsed ? ['output' as const] : [])];
  const maxMs = limitTable.wallMs.max;
  return {
    name: context.name,
    handler: context.handler,
    description: readDescription(node, usage, context),
    ...(usage ? { usage } : {}),
    input,
    inputSource,
    ...(output && !output.isOpen ? { output: output.schema } : {}),
    ...(checkedByPlugin.length === 0 ? {} : { checkedByPlugin }),
    flags: readFlags(node, context),
    tags: inherit(node, context, 'tags', readTags) ?? [],
    mode: inherit(node, context, 'mode', (from) => readChoice(from, 'mode', ['on', 'off', 'auto'])) ?? 'on',
    ...omitUndefined({
      who: inherit(node, context, 'who', (from) => readChoice(from, 'who', ['model', 'person', 'both'] as const)),
      task: inherit(node, context, 'task', (from) => readChoice(from, 'task', ['required', 'never'] as const)),
      timeoutMs: inherit(node, context, 'timeoutMs', (from) => readInteger(from, 'timeoutMs', { min: 1, max: maxMs })),
    }),
    ...readRetries(node, context),
    examples: readExamples(node),
  };
}

function inherit<Value>(
  node: ManifestNode,
  context: ToolContext,
  key: string,
  read: (from: ManifestNode) => Value | undefined,
): Value | undefined {
  return node.data[key] === undefined && context.defaults ? read(context.defaults) : read(node);
}

function readDescription(node: ManifestNode, usage: string | undefined, context: ToolContext): string {
  const description = readTextField(node, 'description', maxDescription) || context.inferred?.description;
  if (description) return description;
  context.warn(`Tool "${context.name}" has no description, so a model cannot tell when to use it.`);
  return usage ?? '';
}

function readInput(
  node: ManifestNode,
  usage: string | undefined,
  context: ToolContext,
): { input: JsonSchema; inputSource: SchemaSource; isParsed?: boolean } {
  if (node.data.parameters !== undefined && node.data.parameters !== null) {
    const { schema, isOpen, isParsed, hasParts } = readParameters(node.data.parameters, pathOf(node, 'parameters'));
    if (hasParts)
      context.warn(
        `Tool "${context.name}": the schema objects inside its JSON Schema describe arguments and do not parse them; make "parameters" one schema object.`,
      );
    if (isOpen && isParsed)
      context.warn(
        `Tool "${context.name}": its schema checks the arguments, but has no JSON Schema that would tell a model of them.`,
      );
    else if (isOpen) context.warn(`Tool "${context.name}" accepts any object: its schema has no JSON Schema to show.`);
    return { input: schema, inputSource: 'parameters', isParsed };
  }
  for (const warning of context.inferred?.warnings ?? []) context.warn(`Tool "${context.name}": ${warning}`);
  const typed = context.inferred?.input;
  if (typed && fitsSchemaBound(typed)) return { input: typed, inputSource: 'type' };
  if (typed) context.warn(`Tool "${context.name}": the type of its arguments is too large for a schema, and is left out.`);
  const fromUsage = usage === undefined ? undefined : parseUsageToSchema(usage);
  if (fromUsage) return { input: fromUsage, inputSource: 'usage' };
  if (!context.inferred?.takesNothing)
    context.warn(`Tool "${context.name}" accepts any object: it has neither parameters, nor typed arguments, nor a usage line.`);
  return { input: anyObject, inputSource: 'none' };
}

function readFlags(node: ManifestNode, context: ToolContext): ToolFlags {
  return setFlags((flag) => inherit(node, context, flag, (from) => readBoolean(from, flag)) ?? false);
}

function readTags(node: ManifestNode): readonly string[] | undefined {
  const { tags } = node.data;
  if (tags === undefined) return undefined;
  const isValid =
    Array.isArray(tags) && tags.length <= maxTags && tags.every((tag) => typeof tag === 'string' && /^[^\s,]{1,40}$/.test(tag));
  if (!isValid) throw invalidField(pathOf(node, 'tags'), `a list of at most ${maxTags} words`, tags);
  return [...new Set<string>(tags)];
}

function readRetries(node: ManifestNode, context: ToolContext): { retries: number; idempotent: boolean } {
  const idempotent = inherit(node, context, 'idempotent', (from) => readBoolean(from, 'idempotent')) ?? false;
  const retries = inherit(node, context, 'retries', (from) => readInteger(from, 'retries', { min: 0, max: maxRetries })) ?? 0;
  if (retries > 0 && !idempotent) {
    const path = pathOf(node, 'retries');
    throw new HotcellError(
      'manifest-invalid',
      `"${path}" is ${retries}, but tool "${context.name}" is not declared idempotent.`,
      {
        facts: { key: path },
        fix: 'Add idempotent: true when calling it twice does no harm, or remove retries.',
      },
    );
  }
  return { retries, idempotent };
}

function readExamples(node: ManifestNode): ToolManifest['examples'] {
  const { examples } = node.data;
  if (examples === undefined) return [];
  const path = pathOf(node, 'examples');
  if (!Array.isArray(examples) || examples.length > maxExamples)
    throw invalidField(path, `a list of at most ${maxExamples}`, examples);
  return examples.map((example: unknown, position) => {
    const keys = isObject(example) ? Object.keys(example) : [];
    if (!isObject(example) || !isObject(example.args) || keys.some((key) => key !== 'args' && key !== 'expect')) {
      throw invalidField(`${path}.${position}`, 'an object { args: { … }, expect?: … }', example);
    }
    return 'expect' in example ? { args: example.args, expect: example.expect } : { args: example.args };
  });
}
