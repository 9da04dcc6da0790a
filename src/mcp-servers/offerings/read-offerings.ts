import type { Prompt, Resource, ResourceTemplateType } from '@modelcontextprotocol/client';
import { omitUndefined } from '../../config/json-object.ts';
import { cleanUntrustedText } from '../../permissions/untrusted-text.ts';
import { callNameOf, type PromptManifest, type ResourceManifest } from '../../units/offering.ts';
import { outputSchemas } from '../../units/offering-output.ts';
import { type JsonSchema, setFlags, type ToolManifest } from '../../units/tool-manifest.ts';
import { findUriFault, readUriTemplate } from '../../units/uri-template.ts';
import { nameServerTool } from '../mcp-unit.ts';
import { createPinnedList, type Pinned, pinDefinition } from '../pins.ts';

/** What a server lists beside tools. */
export interface ListedOfferings {
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplateType[];
}

/** A prompt or a resource of a server, and what the server knows it by. */
export type ServerOffering =
  | (Pinned & { readonly kind: 'prompt'; readonly manifest: PromptManifest; readonly prompt: string })
  | (Pinned & { readonly kind: 'resource'; readonly manifest: ResourceManifest; readonly uri: string });

const maxPrompts = 200;
const maxResources = 1000;
const maxArguments = 32;
const maxTextChars = 2000;
const namePattern = /^[A-Za-z0-9_.-]{1,64}$/;
const argumentPattern = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;

/** Reads the prompts and resources of a server, and says why some cannot be served. All of it is untrusted: texts are tamed, and what could be misread is left out and named. */
export function readServerOfferings(
  server: string,
  { prompts, resources, templates }: ListedOfferings,
  options: { readonly timeoutMs: number; readonly canComplete: boolean },
): { readonly offerings: readonly ServerOffering[]; readonly problems: readonly string[] } {
  const list = createPinnedList<ServerOffering>('all');
  const take = (what: string, read: ServerOffering | string) => list.take(cleanUntrustedText(what, 80), read);
  for (const prompt of prompts.slice(0, maxPrompts)) take(`prompt "${prompt.name}"`, readPrompt(server, prompt, options));
  for (const resource of resources.slice(0, maxResources))
    take(`resource "${resource.uri}"`, readResource(server, { ...resource, isTemplate: false }, options));
  for (const { uriTemplate: uri, ...rest } of templates.slice(0, maxResources))
    take(`resource "${uri}"`, readResource(server, { ...rest, uri, isTemplate: true }, options));
  const tooMany = [
    ...(prompts.length > maxPrompts ? [`${maxPrompts} prompts`] : []),
    ...(Math.max(resources.length, templates.length) > maxResources ? [`${maxResources} resources`] : []),
  ];
  for (const many of tooMany) list.problems.push(`The server lists more than ${many}; the others are left out.`);
  return { offerings: [...list.taken.values()], problems: list.problems };
}

type Options = Parameters<typeof readServerOfferings>[2];

function readPrompt(server: string, prompt: Prompt, { timeoutMs, canComplete }: Options): ServerOffering | string {
  const { name: own, title, description, arguments: args = [] } = prompt;
  if (!namePattern.test(own)) return 'has a name that no prompt can have: letters, digits, _ . - and at most 64 of them';
  if (args.length > maxArguments) return `has more than ${maxArguments} arguments`;
  if (!args.every(({ name }) => argumentPattern.test(name))) return 'has an argument with a name that none can have';
  const pin = pinDefinition('prompt', own, { name: own, title, description, arguments: args });
  if (typeof pin === 'string') return pin;
  const name = nameServerTool(server, own);
  const shown = args.map(({ name: of, description: said, required }) =>
    omitUndefined({ name: of, description: said === undefined ? undefined : tame(said), required }),
  );
  const properties = Object.fromEntries(
    shown.map((each) => [each.name, { type: 'string', description: each.description ?? '' }]),
  );
  const input = describeInput(
    properties,
    shown.filter(({ required }) => required).map((each) => each.name),
  );
  const call = describeCall('prompt', name, {
    description: tame(description),
    input,
    timeoutMs,
    handler: callNameOf({ kind: 'prompt', name }),
  });
  const completions = canComplete ? Object.fromEntries(shown.map((each) => [each.name, 'asked' as const])) : {};
  const manifest = {
    kind: 'prompt',
    name,
    ...omitUndefined({ title: tameWord(title) }),
    description: tame(description),
    arguments: shown,
    completions,
    call,
  } as const;
  return { ...pin, manifest, prompt: own };
}

interface Listed extends Pick<Resource, 'name' | 'uri' | 'title' | 'description' | 'mimeType'> {
  readonly size?: number | undefined;
  readonly isTemplate: boolean;
}

function readResource(server: string, listed: Listed, { timeoutMs, canComplete }: Options): ServerOffering | string {
  const { uri, isTemplate, title, description, mimeType, size } = listed;
  const template = isTemplate ? readUriTemplate(uri) : undefined;
  const fault = typeof template === 'string' ? template : isTemplate ? undefined : findUriFault(uri);
  if (typeof template === 'string' || fault !== undefined) return `needs ${fault}`;
  // The size says how long it is now, and is no text that anybody reads.
  const pin = pinDefinition('resource', uri, { uri, isTemplate, name: listed.name, title, description, mimeType });
  if (typeof pin === 'string') return pin;
  const name = nameServerTool(server, cleanUntrustedText(listed.name, 128));
  const variables = template?.variables ?? [];
  const input = describeInput(Object.fromEntries(variables.map((each) => [each, { type: 'string' }])), variables);
  const call = describeCall('resource', name, { description: tame(description), input, timeoutMs, handler: `resource:${uri}` });
  const manifest = {
    kind: 'resource',
    name,
    description: tame(description),
    uri,
    isTemplate,
    ...omitUndefined({ title: tameWord(title), mimeType: tameWord(mimeType), size }),
    completions: canComplete ? Object.fromEntries(variables.map((each) => [each, 'asked' as const])) : {},
    call,
  } as const;
  return { ...pin, manifest, uri };
}

function describeInput(properties: Readonly<Record<string, object>>, required: readonly string[]): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

function describeCall(
  kind: 'prompt' | 'resource',
  name: string,
  { description, input, timeoutMs, handler }: { description: string; input: JsonSchema; timeoutMs: number; handler: string },
): ToolManifest {
  return {
    name: callNameOf({ kind, name }),
    handler,
    description,
    input,
    inputSource: 'parameters',
    output: outputSchemas[kind],
    flags: setFlags((flag) => flag === 'isParallelSafe'),
    tags: ['mcp'],
    mode: 'auto',
    timeoutMs,
    retries: 0,
    idempotent: true,
    examples: [],
  };
}

/** The address that a template means with these values: RFC 6570, level 1. */
export function fillTemplate(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{([A-Za-z0-9_]+)\}/g, (_, name: string) => encodeURIComponent(String(values[name] ?? '')));
}

function tameWord(text: string | undefined): string | undefined {
  return text === undefined ? undefined : cleanUntrustedText(text, 200);
}

function tame(text = ''): string {
  return cleanUntrustedText(text, maxTextChars);
}
