import type { Command } from 'commander';
import { modelContracts, useGroups } from '../../operations/contracts/models.ts';
import { tame } from '../render/style.ts';
import { renderTable } from '../render/table.ts';
import { formatTime } from '../render/time-text.ts';
import type { CliSession } from '../session.ts';
import { addOperation } from './command.ts';

const noModels = 'No models. Name a provider in the config under models.providers; see hotcell docs models.\n';

/** Adds `hotcell models` and `hotcell usage`. */
export function registerModels(program: Command, session: CliSession): void {
  const models = program.command('models');
  const { style, io } = session;

  addOperation(models, session, {
    name: 'list',
    isDefault: true,
    about: 'list the providers and models of the config, and what is missing',
    options: { '--fetch': 'also what the providers list' },
    contract: modelContracts.list,
    input: ({ fetch = false }) => ({ fetch }),
    show({ items, providers = [] }, { fetch = false }) {
      if (providers.length === 0 && items.length === 0) return noModels;
      type Provider = (typeof providers)[number];
      const keyOf = ({ key, isReady }: Provider) => (key === undefined ? 'none' : isReady ? key : `${key} (no value)`);
      const providerColumns = [
        { head: 'PROVIDER', text: (row: Provider) => row.name, paint: style.bold },
        { head: 'DEFAULT', text: (row: Provider) => (row.isDefault ? 'yes' : '') },
        { head: 'FORMAT', text: (row: Provider) => row.format },
        { head: 'SERVER', text: (row: Provider) => row.baseUrl },
        { head: 'KEY', text: keyOf, paint: (text: string, row: Provider) => (row.isReady ? text : style.red(text)) },
      ];
      if (providers.length > 0) session.print(`${renderTable(providers, providerColumns, io.columns)}\n`);
      type Model = (typeof items)[number];
      const modelColumns = [
        { head: 'MODEL', text: (row: Model) => tame(row.name), paint: style.bold },
        { head: 'DEFAULT', text: (row: Model) => (row.isDefault ? 'yes' : '') },
        {
          head: '$ IN/OUT',
          text: ({ dollarsPerMillionTokens: price }: Model) => (price ? `${price.input}/${price.output}` : 'unknown'),
        },
        { head: 'ALIAS OF', text: (row: Model) => row.aliasOf?.join(', ') ?? '' },
      ];
      if (items.length > 0) session.print(renderTable(items, modelColumns, io.columns));
      for (const { problem, fix } of providers)
        if (problem !== undefined) session.print(`\n${problem}\n${style.dim(`${fix}\n`)}`);
      const unread = providers.filter(({ problem, listProblem }) => problem === undefined && listProblem !== undefined);
      for (const { name, listProblem = '' } of fetch ? unread : [])
        session.print(
          `\n${tame(listProblem)}\n${style.dim(`Its models can be asked for by name all the same; see models.providers.${name}, and: hotcell models test ${name}\n`)}`,
        );
      return '';
    },
  });

  addOperation(models, session, {
    name: 'test',
    about: 'ask models one short question; it costs a few tokens',
    arguments: { '[name]': 'provider/model, provider or alias; every provider when left out' },
    contract: modelContracts.test,
    isDone: ({ items }) => items.every(({ ok }) => ok),
    show: ({ items }) =>
      items
        .map(({ name, ok, latencyMs, answeredBy = name, inputTokens, outputTokens, problem = '', fix = '' }) => {
          const tokens = inputTokens === undefined ? 'tokens unknown' : `${inputTokens} tokens in, ${outputTokens} out`;
          return ok
            ? `${style.green('ok')} ${tame(answeredBy)} answered in ${latencyMs} ms, ${tokens}\n`
            : `${style.red('failed')} ${tame(name)}: ${tame(problem)}\n${style.dim(`  ${tame(fix)}\n`)}`;
        })
        .join(''),
  });

  addOperation(program, session, {
    name: 'usage',
    options: {
      '--by <what>': { about: 'what is added up', choices: useGroups, usual: 'model' },
      '--days <n>': { about: 'today and the days before it', range: [1, 90], usual: 7 },
    },
    contract: modelContracts.uses,
    show({ items, pricesAsOf, budget, fromDay, by }) {
      type Row = (typeof items)[number];
      const columns = [
        { head: by.toUpperCase(), text: (row: Row) => tame(row.name) || '(none)', paint: style.bold },
        {
          head: 'REQUESTS',
          text: (row: Row) => (row.failed === 0 ? `${row.requests}` : `${row.requests} (${row.failed} failed)`),
        },
        { head: 'TOKENS IN', text: (row: Row) => writeTokens(row.inputTokens, row) },
        { head: 'OUT', text: (row: Row) => writeTokens(row.outputTokens, row) },
        { head: 'COST', text: writeCost },
        { head: 'MEAN', text: (row: Row) => `${row.meanLatencyMs} ms` },
        { head: 'MAX', text: (row: Row) => `${row.maxLatencyMs} ms` },
      ];
      const prices = style.dim(`Since ${fromDay} (UTC). Shipped prices are those of ${pricesAsOf}; models.prices has yours.\n`);
      const uses = `${renderTable(items, columns, io.columns)}${prices}`;
      const left = budget === undefined ? '' : `${writeBudget(budget)} until ${formatTime(budget.resetsAtMs)}.\n`;
      return `${items.length === 0 ? `No model was asked since ${fromDay}.\n` : uses}${left}`;
    },
  });
}

/** What was not counted is no zero. */
function writeTokens(
  tokens: number,
  { requests, failed, uncounted, estimated }: { requests: number; failed: number; uncounted: number; estimated: number },
): string {
  const known = `${estimated > 0 ? 'about ' : ''}${tokens}`;
  if (uncounted === 0) return known;
  return uncounted >= requests - failed ? 'unknown' : `${known} + unknown`;
}

function writeCost({ dollars, unpriced, requests }: { dollars: number; unpriced: number; requests: number }): string {
  if (unpriced >= requests && requests > 0) return 'unknown';
  return `$${dollars.toFixed(4)}${unpriced > 0 ? ' + unknown' : ''}`;
}

function writeBudget({
  tokensPerDay,
  tokensLeft,
  dollarsPerDay,
  dollarsLeft,
}: {
  tokensPerDay?: number;
  tokensLeft?: number;
  dollarsPerDay?: number;
  dollarsLeft?: number;
}): string {
  return [
    ...(tokensPerDay === undefined ? [] : [`${tokensLeft} of ${tokensPerDay} tokens`]),
    ...(dollarsPerDay === undefined ? [] : [`$${dollarsLeft?.toFixed(4)} of $${dollarsPerDay}`]),
  ]
    .join(' and ')
    .concat(' are left to this key');
}
