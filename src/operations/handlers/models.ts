import { basename } from 'node:path';
import type { Caller } from '../../callers/caller.ts';
import { dayOf, endOfDay } from '../../capabilities/llm/token-budget.ts';
import { countedAs } from '../../config/counted-callers.ts';
import { omitUndefined } from '../../config/json-object.ts';
import { defaultLlmTokens } from '../../config/permission-set.ts';
import { collectAnswer } from '../../conversation/collect-answer.ts';
import { textOf } from '../../conversation/conversation.ts';
import type { ProviderState } from '../../models/catalog.ts';
import { explainModelFailure } from '../../models/explain-failure.ts';
import { findPrice, nanosPerDollar, pricesAsOf } from '../../models/prices.ts';
import { writeTestRequest } from '../../models/text-generator.ts';
import type { Asking } from '../../permissions/grant-registry.ts';
import { modelContracts } from '../contracts/models.ts';
import { pageOfAll } from '../contracts/paging.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';

const shownChars = 200;

/** What can be seen of models. */
export function createModelOperations(
  parts: Pick<OperationParts, 'catalog' | 'config' | 'upstreams' | 'plugins' | 'grants' | 'store'>,
): Operation[] {
  const { catalog, config, upstreams, plugins, grants, store } = parts;

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

  async function test(name: string, caller: Caller, signal: AbortSignal) {
    const beganAt = performance.now();
    const answer = upstreams.ask(writeTestRequest(name), { caller, purpose: 'test', signal });
    const { parts: said, usage, failure } = await collectAnswer(answer.events);
    const latencyMs = Math.round(performance.now() - beganAt);
    const target = answer.target();
    const answeredBy = target === undefined ? {} : { answeredBy: `${target.provider}/${target.model}` };
    if (failure !== undefined) {
      const { code, message, fix } = explainModelFailure(failure, target);
      return { name, ok: false, latencyMs, ...answeredBy, code, problem: message, fix };
    }
    const text = textOf(said);
    const counted = usage === undefined ? {} : { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens };
    return { name, ok: true, latencyMs, ...answeredBy, text: text.slice(0, shownChars), ...counted };
  }

  function describeBudget({ id, modelTokensPerDay: tokens, modelDollarsPerDay: dollars }: Caller, day: number) {
    if (tokens === undefined && dollars === undefined) return {};
    const used = store.modelUses.used({ caller: id, day });
    return {
      budget: {
        ...(tokens === undefined ? {} : { tokensPerDay: tokens, tokensLeft: Math.max(0, tokens - used.tokens) }),
        ...(dollars === undefined
          ? {}
          : { dollarsPerDay: dollars, dollarsLeft: Math.max(0, dollars - used.costNanos / nanosPerDollar) }),
        resetsAtMs: endOfDay(day),
      },
    };
  }

  return [
    implement(modelContracts.list, async ({ fetch: isFetched = false, provider }, { caller }) => {
      const models = await catalog.list({ caller, purpose: 'gateway' }, { isFetched });
      const items = models
        .filter((each) => provider === undefined || each.provider === provider)
        .map((model) => {
          const price = findPrice(config.models, model.provider, model.model);
          const dollars = price === undefined ? {} : { dollarsPerMillionTokens: { input: price.input, output: price.output } };
          return { ...model, ...dollars };
        });
      const providers = catalog.providers().filter(({ provider: { name } }) => provider === undefined || name === provider);
      return { ...pageOfAll(items), ...(caller.role === 'admin' ? { providers: providers.map(showProvider) } : {}) };
    }),
    implement(modelContracts.test, async ({ name }, { caller, signal }) => {
      const providers = catalog.providers().map(({ provider }) => provider.name);
      const items = await Promise.all((name === undefined ? providers : [name]).map((each) => test(each, caller, signal)));
      if (items.length === 0) catalog.check();
      return pageOfAll(items);
    }),
    implement(modelContracts.uses, ({ by = 'model', days = 7, limit = 100 }, { caller }) => {
      const day = dayOf(Date.now());
      const fromDay = day - days + 1;
      const own = caller.role === 'admin' ? {} : { caller: countedAs(caller.id) };
      const sums = store.modelUses.list({ by, fromDay, limit, ...own });
      const items = sums.map(({ name, costNanos, latencyMs, ...sum }) => ({
        ...sum,
        name: by === 'day' ? showDay(Number(name)) : name,
        dollars: costNanos / nanosPerDollar,
        meanLatencyMs: Math.round(latencyMs / Math.max(1, sum.requests)),
      }));
      return { ...pageOfAll(items), by, fromDay: showDay(fromDay), pricesAsOf, ...describeBudget(caller, day) };
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
      return { ...pageOfAll(items), resetsAtMs: endOfDay(day) };
    }),
  ];
}

function showProvider({ provider, isDefault, problem, listProblem }: ProviderState) {
  const { name, known, baseUrl, format, model, keyName } = provider;
  return {
    ...{ name, baseUrl, format, isReady: problem === undefined, isDefault },
    ...omitUndefined({ title: known?.title, model, key: keyName, listProblem }),
    ...omitUndefined({ problem: problem?.message, fix: problem?.fix }),
  };
}

function showDay(day: number): string {
  return new Date(endOfDay(day - 1)).toISOString().slice(0, 10);
}
