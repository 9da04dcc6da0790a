import type { Prompt, Resource, ResourceTemplateType } from '@modelcontextprotocol/client';
import { cleanUntrustedText } from '../../permissions/untrusted-text.ts';
import { callNameOf, type PromptManifest, type ResourceManifest } from '../../units/offering.ts';
import { outputSchemas } from '../../units/offering-output.ts';
import { type JsonSchema, setFlags, type ToolManifest } from '../../units/tool-manifest.ts';
import { findUriFault, readUriTemplate } from '../../units/uri-template.ts';
import { nameServerTool } from '../mcp-unit.ts';

/** What a server lists beside tools. */
export interface ListedOfferings {
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplateType[];
}

/** A prompt or a resource of a server, and what the server knows it by. */
export type ServerOffering =
  | { readonly manifest: PromptManifest; readonly prompt: string }
  | { readonly manifest: ResourceManifest; readonly uri: string };

const maxPrompts = 200;
const maxResources = 1000;
const maxArguments = 32;
const maxTextChars = 2000;
const namePattern = /^[A-Za-z0-9_.-]{1,64}$/;
const argumentPattern = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;

/** Reads them. All of it is untrusted: texts are tamed, and what could be misread is left out. */
export function readServerOfferings(
  server: string,
  { prompts, resources, templates }: ListedOfferings,
  options: { readonly timeoutMs: number; readonly canComplete: boolean },
): ServerOffering[] {
  return [
    ...prompts.slice(0, maxPrompts).flatMap((prompt) => readPrompt(server, prompt, options)),
    ...resources.slice(0, maxResources).flatMap((resource) => readResource(server, { ...resource, isTemplate: false }, options)),
    ...templates
      .slice(0, maxResources)
      .flatMap(({ uriTemplate, ...rest }) => readResource(server, { ...rest, uri: uriTemplate, isTemplate: true }, options)),
  ];
}

type Options = Parameters<typeof readServerOfferings>[2];

function readPrompt(server: string, prompt: Prompt, { timeoutMs, canComplete }: Options): ServerOffering[] {
  const { name: own, title, description = '', arguments: args = [] } = prompt;
  const isLegal = args.length <= maxArguments && args.every(({ name }) => argumentPattern.test(name));
  if (!namePattern.test(own) || !isLegal) return [];
  const name = nameServerTool(server, own);
  const shown = args.map((each) => ({
    name: each.name,
    ...(each.description === undefined ? {} : { description: tame(each.description) }),
    ...(each.required === undefined ? {} : { required: each.required }),
  }));
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
    ...readTitle(title),
    description: tame(description),
    arguments: shown,
    completions,
    call,
  } as const;
  return [{ manifest, prompt: own }];
}

interface Listed extends Pick<Resource, 'name' | 'uri' | 'title' | 'description' | 'mimeType'> {
  readonly size?: number | undefined;
  readonly isTemplate: boolean;
}

function readResource(server: string, listed: Listed, { timeoutMs, canComplete }: Options): ServerOffering[] {
  const { uri, isTemplate, title, description = '', mimeType, size } = listed;
  const template = isTemplate ? readUriTemplate(uri) : undefined;
  if (typeof template === 'string' || (!isTemplate && findUriFault(uri) !== undefined)) return [];
  const name = nameServerTool(server, cleanUntrustedText(listed.name, 128));
  const variables = template?.variables ?? [];
  const input = describeInput(Object.fromEntries(variables.map((each) => [each, { type: 'string' }])), variables);
  const call = describeCall('resource', name, { description: tame(description), input, timeoutMs, handler: `resource:${uri}` });
  const manifest = {
    kind: 'resource',
    name,
    ...readTitle(title),
    description: tame(description),
    uri,
    isTemplate,
    ...(mimeType === undefined ? {} : { mimeType: cleanUntrustedText(mimeType, 200) }),
    ...(size === undefined ? {} : { size }),
    completions: canComplete ? Object.fromEntries(variables.map((each) => [each, 'asked' as const])) : {},
    call,
  } as const;
  return [{ manifest, uri }];
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

function readTitle(title: string | undefined): { title?: string } {
  return title === undefined ? {} : { title: cleanUntrustedText(title, 200) };
}

function tame(text: string): string {
  return cleanUntrustedText(text, maxTextChars);
}
