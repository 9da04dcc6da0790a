import { writeFileSync } from 'node:fs';
import { limitTable } from '../src/config/limits.ts';
import type { Quota } from '../src/config/quotas/quota.ts';
import { quotas } from '../src/config/quotas.ts';

/** Writes docs/limits.md: what a call may use and what a caller may hold, as the tables of the code have it. */
const pageFile = new URL('../docs/limits.md', import.meta.url);

const intro = `# Limits

This page is written from the tables of the code (\`src/config/limits.ts\`, \`src/config/quotas.ts\`) by \`npm run docs:limits\`.

## Of a call

Every call has every one of these limits. A manifest (\`limits\`, \`timeoutMs\`) may choose other values up to the upper
bound: lower ones by itself, higher ones are the permission \`limits\`, which is asked for like any other
(\`hotcell grant NAME limits=memoryBytes:96MiB\`); until then the default holds and the plugin works with it. The config may let all
plugins choose more without a grant (\`limitsWithoutGrant\`), and sets values itself (\`limits\` for all plugins, \`pluginLimits\` for
one), which win over the manifest. A call that reaches a limit
ends with an error whose code names the limit; the neighbours go on.
`;

const quotaIntro = `## Of a caller

Whatever a caller can hold on to has a quota, so that nobody can keep the others out: one for each caller, one for each plugin,
one in all, and a reserve that only admins reach. An empty cell means that the other bounds of the row hold for it.
`;

/** The text of the page. */
export function describeLimits(): string {
  const limits = Object.entries(limitTable).map(([name, { default: value, max, about }]) =>
    row([`\`${name}\``, writeNumber(name, value), writeNumber(name, max), about]),
  );
  const held = listQuotas().map((quota) => {
    const { holds, unit, each, perCaller, perPlugin, inAll, reserve, atBound, settings = [], tests } = quota;
    const amount = (value: number | undefined) =>
      value === undefined ? '' : writeNumber(unit === 'bytes' ? 'Bytes' : unit, value);
    const perEach = each === undefined ? '' : `${amount(each.max)} a ${each.of}`;
    const bounds = [perEach, amount(perCaller), amount(perPlugin), amount(inAll), amount(reserve)];
    return row([holds, unit, ...bounds, atBound, code(settings), code(tests.map((file) => `test/${file}`))]);
  });
  return [
    intro,
    [row(['Limit', 'Default', 'Upper bound', 'Meaning']), row(['---', '---', '---', '---']), ...limits, ''].join('\n'),
    quotaIntro,
    [
      row(['What is held', 'Unit', 'Each', 'A caller', 'A plugin', 'In all', 'Reserve', 'At the bound', 'Setting', 'Test']),
      row(Array.from({ length: 10 }, () => '---')),
      ...held,
      '',
    ].join('\n'),
    'The limits of single files, responses and values are in [configuration](configuration.md).\n',
  ].join('\n');
}

/** The rows of the table of quotas. */
export function listQuotas(): readonly Quota[] {
  return Object.values(quotas);
}

/** Sizes are easier to read with a unit. */
export function writeNumber(name: string, value: number): string {
  if (!name.endsWith('Bytes')) return String(value);
  for (const [unit, bytes] of [
    ['TiB', 2 ** 40],
    ['GiB', 2 ** 30],
    ['MiB', 2 ** 20],
    ['KiB', 2 ** 10],
  ] as const) {
    if (value >= bytes && value % bytes === 0) return `${value} (${value / bytes} ${unit})`;
  }
  return String(value);
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function code(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}

if (import.meta.main) writeFileSync(pageFile, describeLimits());
