import type { ToolManifest } from './tool-manifest.ts';

/** What a unit brings beside tools. */
export type OfferingKind = 'prompt' | 'resource';

/** What both kinds say of themselves. */
interface OfferingFacts {
  /** 1 to 64 letters, digits, `_` or `-`; of MCP servers with the name of the server before it. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** What can stand for an argument: a list of values, or `asked`, a function of the unit. */
  readonly completions: Readonly<Record<string, readonly string[] | 'asked'>>;
  /**
   * How it is called: a prompt or a resource passes the journey of calls like a tool, under a name that no tool can have.
   */
  readonly call: ToolManifest;
}

/** One argument of a prompt. All of them are texts. */
export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
}

/** Messages that a person picks to begin with, made from arguments. */
export interface PromptManifest extends OfferingFacts {
  readonly kind: 'prompt';
  readonly arguments: readonly PromptArgument[];
}

/** Data with an address of its own. */
export interface ResourceManifest extends OfferingFacts {
  readonly kind: 'resource';
  /** The address of the resource, or with `isTemplate` those of many, such as `notes://{id}`. */
  readonly uri: string;
  readonly isTemplate: boolean;
  readonly mimeType?: string;
  /** Bytes. */
  readonly size?: number;
}

/** A prompt or a resource as a unit declares it. */
export type OfferingManifest = PromptManifest | ResourceManifest;

/** What of a unit's manifest says what it brings beside tools. */
export interface Offerings {
  readonly prompts?: readonly PromptManifest[];
  readonly resources?: readonly ResourceManifest[];
}

/** All that a unit brings beside tools. */
export function listOfferings({ prompts = [], resources = [] }: Offerings): readonly OfferingManifest[] {
  return prompts.length + resources.length === 0 ? none : [...prompts, ...resources];
}

const none: readonly OfferingManifest[] = [];

/** What its owner owns: the name of a prompt, the address of a resource. No tool has a name with a colon. */
export function ownedNameOf(offering: OfferingManifest): string {
  return offering.kind === 'prompt' ? `prompt:${offering.name}` : `resource:${offering.uri}`;
}

/** The name under which calls of it are recorded. */
export function callNameOf({ kind, name }: Pick<OfferingManifest, 'kind' | 'name'>): string {
  return `${kind}:${name}`;
}

/** The key that engines know the function behind the completions of an argument by. */
export function completionHandlerOf({ call }: Pick<OfferingManifest, 'call'>, argument: string): string {
  return `complete:${call.handler}:${argument}`;
}
