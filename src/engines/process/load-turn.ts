import type { Limits } from '../../config/limits.ts';
import type { GuestProcess } from './guest-process.ts';
import type { StopReason, TurnFacts } from './turn-outcome.ts';
import { watchUsage } from './usage-watch.ts';

/** A program could not be evaluated in a new process, although it could once. */
export class LoadFailed extends Error {
  readonly facts: TurnFacts;

  constructor(facts: TurnFacts) {
    super('the program did not load');
    this.facts = facts;
  }
}

/** Evaluates a bundle in a fresh process, within limits and with no capability. */
export async function loadInto(
  process: GuestProcess,
  code: string | Uint8Array,
  label: string,
  limits: Limits,
): Promise<TurnFacts> {
  let stopped: StopReason | undefined;
  const stop = (reason: StopReason): void => {
    stopped ??= reason;
    process.kill();
  };
  const watch = watchUsage(process, limits, stop);
  const timer = setTimeout(stop, limits.wallMs, 'deadline');
  const text = typeof code === 'string' ? code : new TextDecoder().decode(code);
  const result = await process.session.load(text, label.replace(/\.[cm]?[jt]sx?$/, ''), limits);
  clearTimeout(timer);
  result.turn.close();
  return { result, stopped, limits, lastWords: process.lastWords(), cpuMs: watch.stop() };
}
