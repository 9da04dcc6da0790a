import type { Command } from 'commander';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { modelContracts, useGroups } from '../../operations/contracts/models.ts';
import { exitCodes } from '../exit-codes.ts';
import { formatTime } from '../render/format.ts';
import { tame } from '../render/style.ts';
import { renderTable } from '../render/table.ts';
import type { CliSession } from '../session.ts';
import { addDefaultList, type ListFlags, withDaemon } from './command.ts';

interface ModelFlags extends ListFlags {
  readonly fetch?: boolean;
}

interface UsageFlags extends ListFlags {
  readonly by?: string;
  readonly days?: string;
}

const noModels = 'No models. Name a provider in the config under models.providers; see hotcell docs models.\n';

/** Adds `hotcell models` and `hotcell usage`. */
export function registerModels(program: Command, session: CliSession): void {
  const models = program.command('models');
  const { style, io } = session;

  addDefaultList(models, 'list the providers and models of the config, and what is missing')
    .option('--fetch', 'also what the providers list')
    .action((_options: unknown, command: Command) => {
      const { fetch = false, json, ...flags } = command.optsWithGlobals<ModelFlags>();
      return withDaemon(session, flags, async (client) => {
        const answer = await client.invoke(modelContracts.list, { fetch });
        if (json) return session.printJson(answer);
        const { items, providers = [] } = answer;
        if (providers.length === 0 && items.length === 0) return session.print(noModels);
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
      });
    });

  models
    .command('test')
    .description('ask models one short question; it costs a few tokens')
    .argument('[name]', 'provider/model, provider or alias; every provider when left out')
    .option('--json', 'as JSON')
    .action((name: string | undefined, _options: unknown, command: Command) => {
      const { json, ...flags } = command.optsWithGlobals<ListFlags>();
      return withDaemon(session, flags, async (client) => {
        const answer = await client.invoke(modelContracts.test, name === undefined ? {} : { name });
        if (answer.items.some(({ ok }) => !ok)) session.exitCode = exitCodes.failed;
        if (json) return session.printJson(answer);
        for (const { name: asked, ok, latencyMs, answeredBy = asked, inputTokens, outputTokens, problem, fix } of answer.items) {
          const tokens = inputTokens === undefined ? 'tokens unknown' : `${inputTokens} tokens in, ${outputTokens} out`;
          if (ok) session.print(`${style.green('ok')} ${tame(answeredBy)} answered in ${latencyMs} ms, ${tokens}\n`);
          else
            session.print(
              `${style.red('failed')} ${tame(asked)}: ${tame(problem ?? '')}\n${style.dim(`  ${tame(fix ?? '')}\n`)}`,
            );
        }
      });
    });

  program
    .command('usage')
    .option('--by <what>', `add up by ${useGroups.join(', ')}`, 'model')
    .option('--days <n>', 'today and the days before it', '7')
    .option('--json', 'as JSON')
    .action((_options: unknown, command: Command) => {
      const { by = 'model', days = '7', json, ...flags } = command.optsWithGlobals<UsageFlags>();
      const group = useGroups.find((each) => each === by);
      if (group === undefined)
        throw new HotcellError('usage-wrong', `Expected --by to be one of ${useGroups.join(', ')}, got "${by.slice(0, 64)}".`);
      if (!/^[1-9]\d?$/.test(days) || Number(days) > 90)
        throw new HotcellError('usage-wrong', `Expected --days to be a number from 1 to 90, got "${days.slice(0, 64)}".`);
      return withDaemon(session, flags, async (client) => {
        const answer = await client.invoke(modelContracts.uses, { by: group, days: Number(days) });
        if (json) return session.printJson(answer);
        const { items, pricesAsOf, budget, fromDay } = answer;
        type Row = (typeof items)[number];
        const columns = [
          { head: group.toUpperCase(), text: (row: Row) => tame(row.name) || '(none)', paint: style.bold },
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
        if (items.length === 0) session.print(`No model was asked since ${fromDay}.\n`);
        else session.print(renderTable(items, columns, io.columns));
        if (items.length > 0)
          session.print(
            style.dim(`Since ${fromDay} (UTC). Shipped prices are those of ${pricesAsOf}; models.prices has yours.\n`),
          );
        if (budget !== undefined) session.print(`${writeBudget(budget)} until ${formatTime(budget.resetsAtMs)}.\n`);
      });
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
