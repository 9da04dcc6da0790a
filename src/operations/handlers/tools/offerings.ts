import type { Caller } from '../../../callers/caller.ts';
import type { CallAnswer } from '../../../calls/call-types.ts';
import { omitUndefined, type Readable } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { suggestNearNames } from '../../../errors/near-names.ts';
import { seesOffering } from '../../../tools/seen-by-callers.ts';
import type { OfferingEntry } from '../../../tools/tool-types.ts';
import { completionHandlerOf, type OfferingKind } from '../../../units/offering.ts';
import { outputSchemas, toPromptOutput, toResourceContents } from '../../../units/offering-output.ts';
import {
  completionContracts,
  maxCompletionValues,
  type PromptView,
  promptContracts,
  type ResourceView,
  resourceContracts,
  type TemplateView,
} from '../../contracts/offerings.ts';
import { cutPage, type Page } from '../../contracts/paging.ts';
import { implement, type Operation, type OperationContext } from '../../operation.ts';
import type { OperationParts } from '../../operation-parts.ts';
import { untilLoaded } from './missing-tool.ts';
import { createCallForOperation } from './tool-call.ts';

/** What a prompt, a resource or a completion is called with. */
interface OfferingCall {
  readonly entry: OfferingEntry;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly session?: string | undefined;
}

/** What can be done with prompts and resources. */
export function createOfferingOperations(parts: OperationParts): Operation[] {
  const callTool = createCallForOperation(parts);
  const { offerings } = parts.tools;

  function sees(caller: Caller) {
    return (entry: OfferingEntry): boolean => entry.manifest.mode !== 'off' && seesOffering(caller, entry);
  }

  /** Those that a caller may know of and whose words hold what is looked for. */
  function listSeen(kind: OfferingKind, caller: Caller, q?: string): OfferingEntry[] {
    const query = q?.toLowerCase();
    return offerings.list(kind).filter((entry) => sees(caller)(entry) && (query === undefined || mentions(entry, query)));
  }

  function call({ entry, arguments: args, session }: OfferingCall, context: OperationContext): Promise<CallAnswer> {
    return callTool({ ref: `${entry.name}@${entry.version}`, entry, arguments: args, session }, context);
  }

  /** What is not there may come while plugins load: the first build after a start takes about a second. */
  async function whenLoaded(isThere: () => boolean, { cancelSignal }: OperationContext): Promise<void> {
    if (!isThere()) await untilLoaded(parts, isThere, cancelSignal);
  }

  function findPrompt(name: string, caller: Caller): OfferingEntry {
    const entry = offerings.findPrompt(name);
    if (entry !== undefined && sees(caller)(entry)) return entry;
    const names = listSeen('prompt', caller).map(({ offering }) => offering.name);
    const shown = JSON.stringify(name.slice(0, 200));
    throw new HotcellError('prompt-unknown', `There is no prompt ${shown}.${suggestNearNames(name, names)}`);
  }

  function findResource(uri: string, caller: Caller) {
    const found = offerings.findResource(uri, sees(caller));
    if (found !== undefined) return found;
    const shown = uri.slice(0, 200);
    throw new HotcellError('resource-unknown', `There is no resource ${JSON.stringify(shown)}.`, { facts: { uri: shown } });
  }

  /** Of resources a template by itself, or the one that an address means. */
  function findReferred(ref: Reference, caller: Caller): OfferingEntry {
    if (ref.type === 'prompt') return findPrompt(ref.name, caller);
    const template = listSeen('resource', caller).find(({ offering }) => 'uri' in offering && offering.uri === ref.uri);
    return template ?? findResource(ref.uri, caller).entry;
  }

  return [
    implement(promptContracts.list, ({ q, ...query }, { caller }) => {
      return pageOf(listSeen('prompt', caller, q).flatMap(viewPrompt), query, ({ name }) => name);
    }),
    implement(promptContracts.get, async ({ name, arguments: args = {}, session }, context) => {
      await whenLoaded(() => offerings.findPrompt(name) !== undefined, context);
      const answer = await call({ entry: findPrompt(name, context.caller), arguments: args, session }, context);
      return answer.status === 'success' ? { ...answer, output: toPromptOutput(answer.output) } : answer;
    }),
    implement(resourceContracts.list, ({ q, ...query }, { caller }) => {
      return pageOf(listSeen('resource', caller, q).flatMap(viewResource), query, ({ uri }) => uri);
    }),
    implement(resourceContracts.templates, ({ q, ...query }, { caller }) => {
      return pageOf(listSeen('resource', caller, q).flatMap(viewTemplate), query, ({ uriTemplate }) => uriTemplate);
    }),
    implement(resourceContracts.read, async ({ uri, session }, context) => {
      await whenLoaded(() => offerings.findResource(uri, sees(context.caller)) !== undefined, context);
      const { entry, values } = findResource(uri, context.caller);
      const answer = await call({ entry, arguments: values, session }, context);
      if (answer.status !== 'success') return answer;
      const mimeType = entry.offering.kind === 'resource' ? entry.offering.mimeType : undefined;
      const contents = toResourceContents(answer.output, { uri, ...(mimeType !== undefined && { mimeType }) });
      return { ...answer, output: { contents } };
    }),
    implement(completionContracts.complete, async ({ ref, argument, context: others = {} }, context) => {
      const entry = findReferred(ref, context.caller);
      const { completions } = entry.offering;
      const known = Object.hasOwn(completions, argument.name) ? completions[argument.name] : [];
      if (known !== 'asked') return cutValues((known ?? []).filter((value) => startsAlike(value, argument.value)));
      const asked = { entry: completionOf(entry, argument.name), arguments: { value: argument.value, context: others } };
      const { status, output } = await call(asked, context);
      return cutValues(status === 'success' && Array.isArray(output) ? output.map(String) : []);
    }),
  ];
}

type Reference = { readonly type: 'prompt'; readonly name: string } | { readonly type: 'resource'; readonly uri: string };

/** The function of the unit that tells what can stand for an argument, as something to call. */
function completionOf(entry: OfferingEntry, argument: string): OfferingEntry {
  const handler = completionHandlerOf(entry.offering, argument);
  const manifest = { ...entry.manifest, name: handler, handler, input: completionInput, output: outputSchemas.completion };
  return { ...entry, name: handler, manifest };
}

const completionInput = {
  type: 'object',
  properties: { value: { type: 'string' }, context: { type: 'object', additionalProperties: { type: 'string' } } },
  required: ['value', 'context'],
};

/** Lists and pages are in the order of their keys. */
function pageOf<View>(
  views: readonly View[],
  query: { limit?: number; cursor?: string },
  keyOf: (view: View) => string,
): Page<View> {
  return cutPage(
    [...views].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)),
    query,
    keyOf,
  );
}

function mentions({ offering }: OfferingEntry, query: string): boolean {
  const { name, title = '', description } = offering;
  const address = offering.kind === 'resource' ? offering.uri : '';
  return [name, title, description, address].some((text) => text.toLowerCase().includes(query));
}

function viewShared({ offering: { name, title, description }, plugin }: OfferingEntry) {
  return { name, plugin, ...omitUndefined({ title, description: description || undefined }) };
}

function viewPrompt(entry: OfferingEntry): Readable<PromptView>[] {
  const { offering } = entry;
  return offering.kind === 'prompt' ? [{ ...viewShared(entry), arguments: offering.arguments }] : [];
}

function viewResource(entry: OfferingEntry): ResourceView[] {
  const { offering } = entry;
  if (offering.kind !== 'resource' || offering.isTemplate) return [];
  const { uri, mimeType, size } = offering;
  return [{ uri, ...viewShared(entry), ...omitUndefined({ mimeType, size }) }];
}

function viewTemplate(entry: OfferingEntry): TemplateView[] {
  const { offering } = entry;
  if (offering.kind !== 'resource' || !offering.isTemplate) return [];
  return [{ uriTemplate: offering.uri, ...viewShared(entry), ...omitUndefined({ mimeType: offering.mimeType }) }];
}

function startsAlike(value: string, typed: string): boolean {
  return value.toLowerCase().startsWith(typed.toLowerCase());
}

function cutValues(values: readonly string[]): { values: string[]; total: number; hasMore: boolean } {
  return { values: values.slice(0, maxCompletionValues), total: values.length, hasMore: values.length > maxCompletionValues };
}
