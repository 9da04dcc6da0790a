import { basename } from 'node:path';
import { dayOf, endOfDay } from '../../capabilities/llm/token-budget.ts';
import { defaultLlmTokens } from '../../permissions/decision.ts';
import type { Asking } from '../../permissions/grants.ts';
import { modelContracts } from '../contracts/models.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';

/** What can be seen of models. */
export function createModelOperations(parts: Pick<OperationParts, 'models' | 'plugins' | 'grants' | 'store'>): Operation[] {
  const { models, plugins, grants, store } = parts;

  /** Names and budgets of the plugins that are there, by the path under which tokens are counted. */
  function describePlugins() {
    return new Map(
      plugins.list().flatMap(({ path }) => {
        const asking = plugins.asking(path);
        return asking === undefined ? [] : [[asking.path, asking] as const];
      }),
    );
  }

  function budgetOf(asking: Asking | undefined): number | undefined {
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
      const askingByPath = describePlugins();
      const rows = store.modelUsage.list(day, { limit, ...(caller.role === 'admin' ? {} : { caller: caller.id }) });
      const items = rows.map(({ unitPath, caller: owner, tokens }) => {
        const asking = askingByPath.get(unitPath);
        const budget = budgetOf(asking);
        const plugin = asking?.manifest.name ?? basename(unitPath);
        return { plugin, caller: owner, tokens, ...(budget === undefined ? {} : { budget }) };
      });
      return { items, total: items.length, resetsAtMs: endOfDay(day) };
    }),
  ];
}
