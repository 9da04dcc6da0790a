import { quotas } from '../config/quotas.ts';
import type { ToolFlags } from '../units/tool-manifest.ts';

/** How long a model may go on by itself in one answer. */
export interface LoopBudget {
  /** How often the same call (tool and arguments) may be made, and how many calls may fail one after the other. */
  readonly repeats: number;
  /** How many times the model may be asked again with the results of its calls. */
  readonly followUps: number;
  /** How often the success of a tool marked isDeep may start the count of follow-ups anew. */
  readonly renewals: number;
}

const usual = 5;
const research = 10;
const deepRenewals = 2;

/**
 * The budget of a loop that has these tools at hand: research (isResearch) takes 10 rounds against 5, and substantive work
 * (isDeep) is progress, after which the rounds count anew, at most twice.
 */
export function loopBudgetOf(tools: ReadonlyArray<{ readonly flags: Pick<ToolFlags, 'isResearch' | 'isDeep'> }>): LoopBudget {
  const rounds = tools.some(({ flags }) => flags.isResearch) ? research : usual;
  return { repeats: rounds, followUps: rounds, renewals: tools.some(({ flags }) => flags.isDeep) ? deepRenewals : 0 };
}

/** How far a loop may go. */
export interface LoopBounds extends LoopBudget {
  /** Calls of one answer that are run; the model reads of the others that they were not. */
  readonly maxCallsPerTurn: number;
  /** Of one result; what is longer is cut. */
  readonly maxResultBytes: number;
  /** Of all results together. */
  readonly maxBytes: number;
  /** Of one answer of the model. */
  readonly maxAnswerBytes: number;
  /** For everything, but for the time in which a person is asked. */
  readonly timeoutMs: number;
  /** Tokens of all answers, and of what they were asked with. */
  readonly maxTokens?: number;
  /** US dollars, where prices are known. */
  readonly maxCost?: number;
}

/** The bounds of a loop that has these tools at hand, where nobody says otherwise. */
export function loopBoundsOf(tools: Parameters<typeof loopBudgetOf>[0]): LoopBounds {
  return {
    ...loopBudgetOf(tools),
    maxCallsPerTurn: quotas['loop.turn'].each.max,
    maxResultBytes: quotas['loop.result'].each.max,
    maxBytes: quotas['loop.results'].each.max,
    maxAnswerBytes: quotas['loop.answer'].each.max,
    timeoutMs: quotas['loop.time'].each.max,
  };
}
