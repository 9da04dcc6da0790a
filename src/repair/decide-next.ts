import { quotas } from '../config/quotas.ts';
import type { RepairMode, RepairSettings } from '../config/settings/repair-settings.ts';
import { operatorId } from '../permissions/approvals/approval-answerer.ts';
import type { Sureness } from './repair.ts';
import type { TrialReport } from './trial/trial.ts';

/** What is known of a proposal that was tried. */
export interface TriedFacts {
  readonly verdict: TrialReport['verdict'];
  readonly sureness: Sureness;
  readonly author: 'repair' | 'model';
  /** What it asks of a person beside a look: permissions, hosts, imports, tools that the plugin did not reach for before. */
  readonly asks: readonly string[];
  /** What holds for the class of the failure. */
  readonly mode: RepairMode;
  readonly settings: Pick<RepairSettings, 'maybe' | 'byModel'>;
}

/** What becomes of a proposal: it serves, waits for a person, or is put aside. */
export type ProposalFate = 'publish' | 'propose' | 'put-aside';

const ranks: Readonly<Record<RepairMode, number>> = { off: 0, propose: 1, auto: 2 };

/** What becomes of a proposal that was tried: the most careful of all that is said about it. Pure. */
export function decideNext({ verdict, sureness, author, asks, mode, settings }: TriedFacts): ProposalFate {
  if (verdict === 'worse' || verdict === 'not-mended') return 'put-aside';
  const ofAuthor = author === 'model' ? settings.byModel : sureness === 'maybe' ? settings.maybe : mode;
  const modes = [mode, ofAuthor];
  const most = Math.min(...modes.map((each) => ranks[each]));
  if (most === ranks.off) return 'put-aside';
  if (verdict === 'asks-for-more' || asks.length > 0) return 'propose';
  return most === ranks.auto ? 'publish' : 'propose';
}

/** What models may still use for a plugin today. */
export interface ModelRoom {
  readonly tokens: number;
  readonly cost: number;
}

/** What is left of the tokens and the money of a plugin; undefined when a bound is reached. Pure. */
export function decideModelRoom(
  used: { readonly tokens: number; readonly cost: number },
  settings: Pick<RepairSettings, 'tokensPerDay' | 'costPerDay'>,
): ModelRoom | undefined {
  const tokens = settings.tokensPerDay - used.tokens;
  const cost = settings.costPerDay - used.cost;
  return tokens <= 0 || cost <= 0 ? undefined : { tokens, cost };
}

const { perCaller, reserve } = quotas['repairs.proposals'];

/** How many proposals may wait before the next of this caller: beyond what the config says there is a reserve for the operator alone. */
export function maxProposalsFor({ maxProposals }: Pick<RepairSettings, 'maxProposals'>, isOperator: boolean): number {
  return maxProposals + (isOperator ? reserve : 0);
}

/** Whether there is room for one more proposal of a caller, of whom `own` wait among `all`. Pure. */
export function decideProposalRoom(facts: {
  readonly own: number;
  readonly all: number;
  readonly maxProposals: number;
  readonly by: string;
}): boolean {
  return facts.own < perCaller && facts.all < maxProposalsFor(facts, facts.by === operatorId);
}
