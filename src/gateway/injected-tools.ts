import type { Caller } from '../callers/caller.ts';
import type { Config } from '../config/config-types.ts';
import { textOf } from '../conversation/conversation.ts';
import { type ConversationRequest, namesOfTools, type ToolDeclaration } from '../conversation/request.ts';
import type { LoopTools } from '../loop/loop.ts';
import { type LoopBounds, loopBoundsOf } from '../loop/loop-budget.ts';
import { encodeToolName } from '../models/wire/tool-names.ts';
import type { WireFormatName } from '../models/wire/wire-format.ts';
import { wireFormats } from '../models/wire/wire-formats.ts';
import type { Ask } from '../operations/ask.ts';
import { describeForModel, type ToolBooks } from '../operations/calling/tool-book.ts';
import { type ToolView, toolContracts } from '../operations/contracts/tools.ts';
import { metaTools } from '../tools/shown-to-models.ts';

/** What the model of one request is told of beside the client's own tools, and what is run when it calls them. */
export interface InjectedTools {
  readonly declarations: readonly ToolDeclaration[];
  readonly tools: LoopTools;
  readonly bounds: LoopBounds;
}

export type OfferMode = Config['gateway']['tools'];

/** More than this no provider takes. */
const maxTools = 128;
const maxContextChars = 8000;
/** What leads to all other tools, for callers that may run scripts. */
const codeTools = ['search_code', 'run_code', 'search_tools', 'call_tool'];
const finders = ['search_tools', 'call_tool'];

/** Creates the chooser over the operations of the daemon, so that it knows of no tool that its caller does not. */
export function createToolChooser(ask: Ask, books: ToolBooks) {
  async function listShown(request: ConversationRequest, caller: Caller, mode: OfferMode, format: WireFormatName) {
    const { tools } = await books.read(caller);
    const views = new Map(tools.map(({ view }) => [view.name, view]));
    const named = (names: readonly string[]) => names.flatMap((name) => views.get(name) ?? []);
    if (mode === 'code' || (mode === 'auto' && caller.code === true)) return named(codeTools);
    const others = [...views.values()].filter(({ name, mode: set }) => set !== 'off' && !metaTools.has(name));
    if (others.length === 0) return [];
    if (mode === 'all') return others;
    const context = { caller, signal: new AbortController().signal };
    const asked = { context: lastWords(request), provider: wireFormats[format].family };
    const selected = await ask(toolContracts.select, asked, context);
    const shown = named(selected.tools.map(({ name }) => name)).filter(({ name }) => !metaTools.has(name));
    return shown.length < others.length ? [...shown, ...named(finders)] : shown;
  }

  return {
    /** False where nothing would be chosen whatever the request says: then nobody has to read it. */
    async mayOffer(caller: Caller, mode: OfferMode): Promise<boolean> {
      if (mode === 'off') return false;
      const { tools } = await books.read(caller);
      return tools.some(({ view }) => !metaTools.has(view.name)) || (caller.code === true && tools.length > 0);
    },
    async choose(
      request: ConversationRequest,
      { caller, mode, format }: { caller: Caller; mode: OfferMode; format: WireFormatName },
    ): Promise<InjectedTools | undefined> {
      if (mode === 'off' || !mayCallOthers(request)) return undefined;
      const own = new Set([...namesOfTools(request)].map(encodeToolName));
      const shown = await listShown(request, caller, mode, format);
      // What the client has under this name is what it means.
      const views = shown.filter(({ name }) => !own.has(encodeToolName(name))).slice(0, maxTools - own.size);
      if (views.length === 0) return undefined;
      return {
        declarations: views.map(declare),
        tools: Object.fromEntries(
          views.map(({ name, flags }) => [name, { ref: name, ...(flags.includes('isDeep') && { isDeep: true }) }]),
        ),
        bounds: loopBoundsOf(
          views.map(({ flags }) => ({ flags: { isResearch: flags.includes('isResearch'), isDeep: flags.includes('isDeep') } })),
        ),
      };
    },
  };
}

const aloneFormats = new Set<string>(Object.values(wireFormats).flatMap((each) => (each.nativeToolsStandAlone ? each.name : [])));

/** A client that says which of its tools is called wants no other; some providers' own tools stand alone. */
function mayCallOthers({ toolChoice, nativeTools }: ConversationRequest): boolean {
  return (toolChoice === undefined || toolChoice.kind === 'auto') && !nativeTools.some(({ format }) => aloneFormats.has(format));
}

function declare(view: ToolView): ToolDeclaration {
  return { name: view.name, description: describeForModel(view), parameters: { ...view.input, type: 'object' } };
}

/** What the person said last. */
function lastWords({ messages }: ConversationRequest): string {
  const last = messages.findLast(({ role, parts }) => role === 'user' && parts.some(({ type }) => type === 'text'));
  const text = textOf(last?.parts ?? [], '\n');
  return text.slice(-maxContextChars);
}
