import type { RepairItem } from '../../operations/contracts/repairs.ts';
import { reveal, type Style, tame } from './style.ts';
import { renderFacts } from './table.ts';

const good: readonly string[] = ['published', 'applied'];
const bad: readonly string[] = ['given-up', 'interrupted', 'expired'];

/** The state of a repair in its colour. */
export function paintRepair(state: string, style: Style): string {
  if (good.includes(state)) return style.green(state);
  if (bad.includes(state)) return style.red(state);
  return state === 'proposed' ? style.yellow(state) : style.dim(state);
}

/** One repair: the failure, what was tried, and the difference that a person decides about. */
export function renderRepair(repair: RepairItem, style: Style): string {
  const { proposal, failure } = repair;
  const place = [failure.file, failure.line].filter((part) => part !== undefined).join(':');
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['state', paintRepair(repair.state, style)],
    ['because', tame(repair.reason)],
    [
      'failure',
      failure.message === proposal?.note
        ? undefined
        : `${repair.class}: ${tame(failure.message)}${place === '' ? '' : ` (${tame(place)})`}`,
    ],
    ['call', failure.executionId],
    ['by', proposal && `${tame(proposal.by)} (${proposal.sureness})`],
    ['change', proposal && tame(proposal.note)],
    ['asks for', proposal?.asks.length ? style.yellow(tame(proposal.asks.join('; '))) : undefined],
    ['model', repair.tokens === 0 ? undefined : `${repair.tokens} tokens, ${repair.cost.toFixed(4)}`],
  ];
  const tried = repair.attempts.map(({ by, outcome, note, checks }) => {
    const failed = checks.filter((check) => check.outcome === 'failed').map(({ name, detail }) => `      ${name}: ${detail}\n`);
    return `  ${outcome === 'mended' ? style.green('✓') : style.red('✗')} ${tame(by)}: ${outcome}. ${tame(note)}\n${tame(failed.join(''))}`;
  });
  const head = `${style.bold(repair.id)} of ${tame(repair.plugin)}\n${renderFacts(facts, style)}`;
  const trials = tried.length === 0 ? '' : `\nTried:\n${tried.join('')}`;
  return `${head}${trials}${proposal === undefined ? '' : `\n${renderDiff(proposal.diff, style)}`}`;
}

/** What repair has to do with a plugin, in one line. */
export function renderRepairNote(
  { id, state, reason }: { readonly id?: string; readonly state: string; readonly reason: string },
  style: Style,
): string {
  return `${style.dim('repair')} ${id === undefined ? '' : `${id} `}${paintRepair(state, style)}: ${tame(reason)}\n`;
}

/**
 * A difference as `diff -u` writes it, in colours. Its hunks say how long they are, so that no changed line can pass for the name of
 * a file; characters that nobody sees are shown by their numbers.
 */
function renderDiff(diff: string, style: Style): string {
  const lines = diff.replace(/\n+$/, '').split('\n');
  const body = lines.filter((line) => /^[ +-]/.test(line) && !/^(?:---|\+\+\+) /.test(line));
  // Where every line ends as on Windows, its end says nothing.
  const end = body.length > 0 && body.every((line) => line.endsWith('\r')) ? /\r$/ : /$^/;
  let left = { before: 0, after: 0 };
  const painted = lines.map((line) => {
    const shown = reveal(line.replace(end, ''));
    const isInside = left.before > 0 || left.after > 0;
    const [, before, after] = (isInside ? null : /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line)) ?? [];
    if (!isInside && line.startsWith('@@')) {
      left = { before: Number(before ?? 1), after: Number(after ?? 1) };
      return style.cyan(shown);
    }
    if (!isInside) return style.bold(shown);
    if (!line.startsWith('+') && !line.startsWith('\\')) left.before -= 1;
    if (!line.startsWith('-') && !line.startsWith('\\')) left.after -= 1;
    if (line.startsWith('+')) return style.green(shown);
    return line.startsWith('-') ? style.red(shown) : shown;
  });
  return `${painted.join('\n')}\n`;
}
