import type { RepairMode, RepairSettings } from '../config/settings/repair-settings.ts';
import type { PluginSource } from '../plugins/discovery/plugin-source.ts';
import type { Generation } from '../plugins/generations/generation.ts';
import type { PluginStanding } from '../plugins/supervisor/mending.ts';
import { decideNext, type ProposalFate } from './decide-next.ts';
import type { Failure } from './failures/failure.ts';
import { listAsks } from './model/scan.ts';
import type { KeptProposal, Proposal, Repair } from './repair.ts';
import type { RepairBook } from './repair-book.ts';
import { describeChange, maxDiffChars } from './text-difference.ts';
import type { TrialReport, TryProposal } from './trial/trial.ts';

/** One failure that is to be mended. */
export interface MendRequest {
  readonly failure: Failure;
  readonly standing: PluginStanding;
  /** By which a proposal is measured: what serves, or served last. */
  readonly diagnosed: Generation | undefined;
  readonly mode: RepairMode;
  readonly signal: AbortSignal;
}

/** A proposal that was tried, with what is to become of it. */
export interface Tried {
  readonly proposal: KeptProposal;
  readonly report: TrialReport;
  readonly step: ProposalFate;
}

const maxTrials = 24;
const maxTextChars = 1024 * 1024;

/** The trials of one repair. */
export type Trials = ReturnType<typeof createTrials>;

/** Begins the trials of a repair, each noted, and bounded: of changes of `sources`, the texts in which the failure was diagnosed. */
export function createTrials(
  parts: { readonly settings: RepairSettings; readonly book: Pick<RepairBook, 'addAttempt'>; readonly tryProposal: TryProposal },
  repair: Pick<Repair, 'id'>,
  request: MendRequest & { readonly sources: ReadonlyMap<string, string> },
) {
  const { sources, diagnosed, failure, standing, mode, signal } = request;
  const seen = new Set<string>();
  const good: Tried[] = [];
  let count = 0;
  /** What is to be published or proposed. */
  const best = (): Tried | undefined =>
    good.find(({ step }) => step === 'publish') ?? good.find(({ report }) => report.verdict === 'mended') ?? good[0];

  return {
    best,
    // What asks for more leaves room for one that does not.
    isOver: () => count >= maxTrials || good.some(({ report }) => report.verdict === 'mended'),
    count: () => count,
    releaseAllBut: (kept: Tried | undefined): void => {
      for (const tried of good) if (tried !== kept) tried.report.candidate?.release();
    },
    /** Undefined for what was tried before, or changes nothing that may be changed. */
    async run(proposal: Proposal, author: 'repair' | 'model'): Promise<Tried | undefined> {
      const files = [...proposal.files].filter(([path, text]) => sources.get(path) !== text);
      const size = files.reduce((sum, [, text]) => sum + text.length, 0);
      const key = JSON.stringify(files);
      // Only files of the plugin are changed, and nothing is tried twice.
      if (files.length === 0 || seen.has(key) || size > maxTextChars || files.some(([path]) => !sources.has(path)))
        return undefined;
      seen.add(key);
      count += 1;
      const report = await parts.tryProposal({ source: standing.source, proposal, diagnosed, failure, signal });
      const asks = [...describeMore(report), ...(author === 'model' ? listAsks(sources, proposal.files) : [])];
      const kept = keepProposal({ ...proposal, author, asks }, standing.source, sources);
      const { verdict } = report;
      const step = decideNext({ verdict, sureness: kept.sureness, author, asks, mode, settings: parts.settings });
      const tried = { proposal: kept, report, step };
      parts.book.addAttempt(repair.id, {
        by: kept.by,
        author,
        note: kept.note,
        outcome: report.verdict,
        checks: report.checks.map(({ name, outcome, detail }) => ({ name, outcome, detail: detail.slice(0, 500) })),
        diff: kept.diff.slice(0, maxDiffChars / 8),
      });
      if (step === 'put-aside') report.candidate?.release();
      else good.push(tried);
      return tried;
    },
  };
}

/** A proposal as it is kept: with what it changes of the texts of its plugin. */
export function keepProposal(
  { files, ...proposal }: Omit<KeptProposal, 'files' | 'diff'> & Pick<Proposal, 'files'>,
  source: Pick<PluginSource, 'root'>,
  sources: ReadonlyMap<string, string>,
): KeptProposal {
  const changed = [...files].filter(([path, text]) => sources.get(path) !== text);
  return {
    ...proposal,
    diff: describeChange(source, sources, files),
    files: changed.map(([path, after]) => ({ path, before: sources.get(path) ?? null, after })),
  };
}

function describeMore({ verdict, more }: TrialReport): string[] {
  return verdict === 'asks-for-more' ? [`permissions: ${JSON.stringify(more ?? {})}`] : [];
}
