/** One end of a call of the plugin's current generation, within the window that is looked at. */
export interface SeenCall {
  /** Absent when the call went well. */
  readonly failureKey?: string;
  readonly tool: string;
}

/** From when on a failure of calls is worth a repair. */
export interface RateRule {
  readonly minFailures: number;
  /** Part of the calls of the same tool, from 0 to 1. */
  readonly minPart: number;
}

/** What holds unless the config says otherwise. */
export const usualRateRule: RateRule = { minFailures: 3, minPart: 0.5 };

/** Mistakes of programs: one is enough. What a plugin throws on purpose has no such name. */
const programNames = /^(?:TypeError|ReferenceError)(?::|$)/;

/**
 * Whether a failure of a call is worth a repair now: a mistake of a program and an end by a limit from the first time on, an error
 * that the plugin throws itself when most calls of the tool end so.
 */
export function isWorthRepair(
  failure: { readonly class: string; readonly key: string; readonly message: string; readonly tool?: string },
  window: readonly SeenCall[],
  rule: RateRule = usualRateRule,
): boolean {
  if (failure.class !== 'runtime-error') return true;
  if (programNames.test(failure.message)) return true;
  const calls = window.filter(({ tool }) => tool === failure.tool);
  const failed = calls.filter(({ failureKey }) => failureKey === failure.key).length;
  return failed >= rule.minFailures && failed >= calls.length * rule.minPart;
}
