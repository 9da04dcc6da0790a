import type { ToolFlags } from '../units/tool-manifest.ts';

/** How long a model may go on by itself in one answer. */
export interface LoopBudget {
  /** How often one tool may be called in a loop before it counts as going in circles. */
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
