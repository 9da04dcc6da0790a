import type { ServedUnit } from '../../units/unit.ts';
import { failed, notTried, passed, type TrialCheck } from './trial.ts';
import type { TriedRun, TryCalls } from './try-calls.ts';

/** What a check says of a change, and whether it says so of the change alone: before it said otherwise. */
interface CheckOutcome {
  readonly check: TrialCheck;
  readonly wasMended: boolean;
}

const maxExamples = 20;

function listExamples({ unit }: ServedUnit) {
  return unit.manifest.tools.flatMap(({ name: tool, examples }) => examples.map((example) => ({ tool, example })));
}

function sayExample(tool: string, args: unknown, fault: string): string {
  return `${tool} ${JSON.stringify(args)?.slice(0, 200)}: ${fault}`;
}

/** Tries the examples that a plugin brings itself, where there is nothing else to measure it by. */
export async function tryOwnExamples(calls: TryCalls, candidate: ServedUnit): Promise<TrialCheck> {
  const examples = listExamples(candidate);
  // A trial has no variables and no secrets: what fails without them says nothing.
  const readsEnv = (candidate.unit.manifest.permissions.env ?? []).length > 0;
  let tried = 0;
  for (const { tool, example } of examples.slice(0, maxExamples)) {
    const { fault, wasRefused } = await calls.example(candidate, tool, example);
    if (fault === undefined) tried += 1;
    else if (!wasRefused && !readsEnv) return failed('examples', sayExample(tool, example.args, fault));
  }
  if (tried > 0) return passed('examples', `${tried} pass.`);
  return notTried('examples', examples.length === 0 ? 'There are none.' : 'All of them ask for what a trial has not.');
}

/** Runs the examples of the generation that is measured by, on the change. */
export async function tryExamples(
  calls: TryCalls,
  before: ServedUnit,
  candidate: ServedUnit,
  isTheFailure: boolean,
): Promise<CheckOutcome> {
  const examples = listExamples(before);
  const faults: string[] = [];
  let tried = 0;
  let wasMended = false;
  for (const { tool, example } of examples.slice(0, maxExamples)) {
    const now = await calls.example(candidate, tool, example);
    if (now.fault === undefined) tried++;
    if (now.fault === undefined && !isTheFailure) continue;
    const was = await calls.example(before, tool, example);
    if (now.fault === undefined) wasMended ||= was.fault !== undefined;
    // What did not work in a trial before says nothing of the change.
    else if (was.fault === undefined || (isTheFailure && !now.wasRefused)) faults.push(sayExample(tool, example.args, now.fault));
  }
  const none = examples.length === 0 ? 'There are none.' : 'None of them can be tried without what a trial has not.';
  const check =
    faults[0] !== undefined
      ? failed('examples', faults[0])
      : tried > 0
        ? passed('examples', `${tried} pass.`)
        : notTried('examples', none);
  return { check, wasMended: wasMended && faults.length === 0 };
}

/**
 * Runs the health check of the change, and that of the generation which is measured by on the changed code: `runWithFormer` makes such a
 * unit for one run. A change of the check itself mends nothing.
 */
export async function tryHealth(
  calls: TryCalls,
  before: ServedUnit,
  candidate: ServedUnit,
  runWithFormer: (run: (served: ServedUnit) => Promise<TriedRun>) => Promise<TriedRun | 'the same' | 'unknown'>,
): Promise<CheckOutcome> {
  const not = (check: TrialCheck): CheckOutcome => ({ check, wasMended: false });
  const has = ({ unit }: ServedUnit): boolean => 'hooks' in unit.manifest && Object(unit.manifest.hooks).healthcheck === true;
  if (!has(before)) return not(notTried('healthcheck', 'There is none.'));
  if (!has(candidate)) return not(failed('healthcheck', 'The health check is gone.'));
  const own = await calls.healthcheck(candidate);
  const was = await calls.healthcheck(before);
  const former = own.fault === undefined ? await runWithFormer(calls.healthcheck) : 'the same';
  if (former === 'unknown')
    return not(notTried('healthcheck', 'It passes; whether it is the check that it was, nobody can tell.'));
  const now = former === 'the same' ? own : former;
  if (now.fault === undefined)
    return { check: passed('healthcheck', 'It passes.'), wasMended: was.fault !== undefined && !was.wasRefused };
  if (now.wasRefused || was.fault !== undefined) {
    const detail = `It did not pass before either, or needs what a trial has not: ${now.fault}`;
    return not({ ...notTried('healthcheck', detail), fault: now.fault, wasRefused: now.wasRefused });
  }
  return not(failed('healthcheck', former === 'the same' ? now.fault : `As it was before the change: ${now.fault}`));
}
