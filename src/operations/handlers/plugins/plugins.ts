import { hash } from 'node:crypto';
import { omitUndefined } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import type { PluginView } from '../../../plugins/plugin-types.ts';
import type { ReloadResult } from '../../../plugins/supervisor-types.ts';
import { cutPage, pageOfAll } from '../../contracts/paging.ts';
import { pluginContracts } from '../../contracts/plugins.ts';
import { implement, type Operation } from '../../operation.ts';
import type { OperationParts } from '../../operation-parts.ts';

/** What can be done with plugins. */
export function createPluginOperations({ plugins, uses, repairs, health }: OperationParts): Operation[] {
  /**
   * Its health, and what repair has to do with it: nothing with a plugin that is well and that nobody mended, unless somebody asks why,
   * which may be for a call that failed.
   */
  function noteRepair({ path, diagnostic, author }: PluginView, asksWhy = false): Pick<PluginView, 'repair' | 'health'> {
    const isMended = author === 'repair' || author === 'model';
    const place = plugins.pathOf(path);
    const { repair, refusal } = repairs.noteOf(place);
    const checked = health.healthOf(place);
    const noted = checked === undefined ? {} : { health: checked };
    const isFailing = asksWhy || diagnostic !== undefined;
    const isTold = repair !== undefined && (isMended || isFailing || repair.state === 'proposed');
    if (refusal !== undefined && isFailing && repair?.state !== 'proposed')
      return { ...noted, repair: { state: 'not-started', reason: refusal } };
    return isTold ? { ...noted, repair: { id: repair.id, state: repair.state, reason: repair.reason } } : noted;
  }

  return [
    implement(pluginContracts.list, (input) => {
      const views = plugins.list().filter((view) => input.state === undefined || view.state === input.state);
      // Two files may carry one name, so the path makes the cursor unique.
      const keyOf = (view: { name: string; path: string }) => `${view.name}\n${view.path}`;
      const { items, ...page } = cutPage(views.sort(compareBy(keyOf)), input, keyOf);
      return { ...page, items: items.map((view) => ({ ...view, ...noteRepair(view) })), passedOver: plugins.passedOver() };
    }),
    implement(pluginContracts.get, ({ name }) => {
      const view = plugins.get(name);
      const asking = plugins.asking(name);
      const noted = { ...view, ...noteRepair(view) };
      if (asking === undefined) return noted;
      const { used, neverUsed } = uses.describe(asking.path, view.permissions.granted);
      return { ...noted, permissions: { ...view.permissions, used, neverUsed } };
    }),
    implement(pluginContracts.reload, async ({ name }) => requireSuccess(await plugins.reload(name))),
    implement(pluginContracts.reloadAll, async () => {
      const items = await plugins.reloadAll();
      return { ...pageOfAll(items), failed: items.filter((result) => !result.ok).length };
    }),
    implement(pluginContracts.update, ({ name, enabled }) => plugins.setEnabled(name, enabled)),
    implement(pluginContracts.source, async ({ name }) => {
      const { file, text } = await plugins.readSource(name);
      return { file, text, sha256: hash('sha256', text, 'hex') };
    }),
    implement(pluginContracts.writeSource, async ({ name, text, expectedHash }, { caller }) =>
      requireSuccess(await plugins.writeSource(name, text, { by: caller.id, expectedHash })),
    ),
    implement(pluginContracts.check, ({ name, text }, { signal }) => plugins.check(name, text, signal)),
    implement(pluginContracts.generations, ({ name }) => pageOfAll(plugins.generations(name))),
    implement(pluginContracts.rollback, async ({ name, generation }) => requireSuccess(await plugins.rollback(name, generation))),
    implement(pluginContracts.why, ({ name }) => {
      const view = plugins.get(name);
      const { name: called, state, permissions, diagnostic } = view;
      return {
        ...{ name: called, state, permissions, ...omitUndefined({ diagnostic }) },
        ...noteRepair(view, true),
        ...pageOfAll(plugins.why(name)),
      };
    }),
    implement(pluginContracts.remove, async ({ name }) => {
      const view = plugins.get(name);
      await plugins.remove(name);
      return { name: view.name, removed: true };
    }),
  ];
}

/** A failed reload is an error in every door, with the whole result as facts. */
function requireSuccess(result: ReloadResult): ReloadResult {
  if (result.ok) return result;
  const { diagnostic } = result;
  const place = [diagnostic?.file, diagnostic?.line, diagnostic?.column].filter((part) => part !== undefined).join(':');
  const cause = diagnostic?.message ?? `it is ${result.state}.`;
  const serving = result.generation === undefined ? 'Nothing serves.' : `Generation ${result.generation} keeps serving.`;
  throw new HotcellError(
    'reload-failed',
    `Plugin "${result.name}" could not be reloaded${place && ` (${place})`}: ${cause} ${serving}`,
    {
      facts: { ...result },
      ...(diagnostic === undefined ? {} : { fix: diagnostic.fix }),
    },
  );
}

function compareBy<Item>(keyOf: (item: Item) => string): (a: Item, b: Item) => number {
  return (a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0);
}
