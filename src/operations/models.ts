import { basename } from 'node:path';
import { dayOf, endOfDay } from '../capabilities/llm/token-budget.ts';
import { defaultLlmTokens } from '../permissions/decision.ts';
import { modelContracts } from './contracts/models.ts';
import { implement, type Operation } from './operation.ts';
import type { OperationParts } from './parts.ts';

/** What can be seen of models. */
export function createModelOperations(parts: Pick<OperationParts, 'models' | 'plugins' | 'grants' | 'store'>): Operation[] {
  const { models, plugins, grants, store } = parts;

  function budgetOf(pluginPath: string): number | undefined {
    const asking = plugins.asking(pluginPath);
    const llm = asking === undefined ? undefined : grants.decide(asking).granted.llm;
    return llm === true ? defaultLlmTokens : llm;
  }

  return [
    implement(modelContracts.list, () => {
      const items = models.list();
      return { items, total: items.length };
    }),
    implement(modelContracts.usage, ({ limit = 1000 }, { caller }) => {
      const day = dayOf(Date.now());
      const nameByPath = new Map(plugins.list().map(({ path, name }) => [path, name]));
      const rows = store.modelUsage.list(day, { limit, ...(caller.role === 'admin' ? {} : { caller: caller.id }) });
      const items = rows.map(({ pluginPath: path, caller: owner, tokens }) => {
        const budget = nameByPath.has(path) ? budgetOf(path) : undefined;
        const plugin = nameByPath.get(path) ?? basename(path);
        return { plugin, path, caller: owner, tokens, ...(budget === undefined ? {} : { budget }) };
      });
      return { items, total: items.length, resetsAtMs: endOfDay(day) };
    }),
  ];
}
