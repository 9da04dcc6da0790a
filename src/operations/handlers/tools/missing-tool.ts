import { type Caller, operatorCaller } from '../../../callers/caller.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import type { PluginView } from '../../../plugins/plugin-types.ts';
import { seesToolName } from '../../../tools/seen-by-callers.ts';
import type { OperationParts } from '../../operation-parts.ts';

/** How long a request waits for a plugin that loads: the first build after a start takes about a second. */
const maxLoadWaitMs = 10_000;

const maxTools = 20;

/** What finds tools, also those that are about to be there. */
export type ToolSeeker = <Result>(
  ref: string,
  by: { readonly caller: Caller; readonly signal?: AbortSignal | undefined },
  use: () => Result | Promise<Result>,
) => Promise<Result>;

/**
 * Creates what uses a tool. Where there is none of this name while plugins load, it is used as soon as it is there; where
 * there is none at all, but a plugin of this name, the error says what is the matter with that.
 */
export function createToolSeeker({
  tools,
  plugins,
  units,
  events,
}: Pick<OperationParts, 'tools' | 'plugins' | 'units' | 'events'>): ToolSeeker {
  function isThere(ref: string): boolean {
    try {
      return tools.resolve(ref) !== undefined;
    } catch {
      return false;
    }
  }

  function explain(error: HotcellError, ref: string, caller: Caller): HotcellError {
    const [name = ref] = ref.split('@', 1);
    if (caller.isAnonymous === true || !seesToolName(caller, name)) return error;
    try {
      const view = plugins.get(name);
      const reason = plugins.why(name).at(-1)?.reason;
      return (
        describeMissingTool(view, { reason, isAdmin: caller.role === 'admin' }) ??
        (isThere(name) ? undefined : describeTools(view, ref, caller)) ??
        error
      );
    } catch {
      return error;
    }
  }

  return async (ref, { caller, signal }, use) => {
    try {
      return await use();
    } catch (error) {
      if (!isMissing(error)) throw error;
      if (isThere(ref)) throw describeCodeRule(tools, ref, caller) ?? error;
    }
    await untilLoaded({ units, events }, () => isThere(ref), signal);
    try {
      return await use();
    } catch (error) {
      throw isMissing(error) ? explain(error, ref, caller) : error;
    }
  };
}

/** Scripts over tools are there, but not for this key: who allows them, and how. Who has no key hears nothing of them. */
function describeCodeRule(
  tools: OperationParts['tools'],
  ref: string,
  { id, role, isAnonymous }: Caller,
): HotcellError | undefined {
  const { name, manifest } = tools.resolve(ref);
  if (manifest.codeRule === undefined || isAnonymous === true) return undefined;
  const byKey = `hotcell key update ID --code, where hotcell key list shows the ID of the key of "${id}"`;
  const fix =
    id === operatorCaller.id
      ? 'Set builtins: { codeForAdmins: true } in the config, or use a key that was made with hotcell key create --code.'
      : `The operator allows it with ${byKey}${role === 'admin' ? ', or with builtins: { codeForAdmins: true } in the config' : ''}.`;
  return new HotcellError('forbidden', `"${name}" is for scripts over tools, which this key may not run.`, { fix });
}

/** Resolves when something is there, when nothing loads any more that could bring it, or when that takes too long. */
export async function untilLoaded(
  { units, events }: Pick<OperationParts, 'units' | 'events'>,
  isThere: () => boolean,
  cancelled?: AbortSignal,
): Promise<void> {
  if (!units.isLoading()) return;
  const timeUp = AbortSignal.timeout(maxLoadWaitMs);
  const signal = cancelled === undefined ? timeUp : AbortSignal.any([timeUp, cancelled]);
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = (): void => {
    if (signal.aborted || !units.isLoading() || isThere()) resolve();
  };
  const types = ['plugin-change', 'plugin-removed', 'tools-change', 'prompts-change', 'resources-change'] as const;
  const end = events.subscribe({ types }, look);
  signal.addEventListener('abort', look, { once: true });
  look();
  await promise;
  end();
  signal.removeEventListener('abort', look);
}

/** A plugin is called by its tools; only those are named that the caller sees. */
function describeTools(
  { name, tools }: Pick<PluginView, 'name' | 'tools'>,
  ref: string,
  caller: Caller,
): HotcellError | undefined {
  const seen = tools.filter((tool) => seesToolName(caller, tool)).slice(0, maxTools);
  const [first] = seen;
  if (first === undefined) return undefined;
  const message = `${JSON.stringify(ref)} is a plugin. ${seen.length === 1 ? 'Its tool is' : 'Its tools are'} ${seen.join(', ')}.`;
  return new HotcellError('tool-unknown', message, {
    fix: `Call a tool, such as ${first}; hotcell plugin info ${name} shows them.`,
  });
}

/** What is the matter with a plugin whose tool is missing; undefined when its tools are there, and this is none of them. */
export function describeMissingTool(
  { name, state, generation, diagnostic }: Pick<PluginView, 'name' | 'state' | 'generation' | 'diagnostic'>,
  { reason, isAdmin }: { readonly reason?: string | undefined; readonly isAdmin: boolean },
): HotcellError | undefined {
  const refuse = (message: string, fix: string): HotcellError => new HotcellError('plugin-not-ready', message, { fix });
  if (state === 'loading') return refuse(`The plugin "${name}" is loading.`, 'Call it again in a moment.');
  if (state === 'disabled') {
    const by = reason === undefined || reason === 'disabled' ? ' by an operator' : `: ${reason}`;
    return refuse(
      `The plugin "${name}" is disabled${by}.`,
      `Enable it with hotcell plugin enable ${name}, or see hotcell why ${name}.`,
    );
  }
  if (state === 'quarantined') {
    return refuse(`The plugin "${name}" is quarantined${reason === undefined ? '' : `: ${reason}`}.`, `See hotcell why ${name}.`);
  }
  if (generation !== undefined) return undefined;
  if (diagnostic === undefined) return refuse(`The plugin "${name}" is ${state}.`, `See hotcell why ${name}.`);
  // A diagnostic quotes the source, which is for operators alone.
  if (!isAdmin) return refuse(`The plugin "${name}" is ${state}.`, 'Ask the operator of this Hotcell.');
  return new HotcellError('plugin-not-ready', `The plugin "${name}" is ${state}: ${diagnostic.message}`, {
    fix: diagnostic.fix,
    facts: { diagnostic },
  });
}

function isMissing(error: unknown): error is HotcellError {
  return error instanceof HotcellError && error.code === 'tool-unknown';
}
