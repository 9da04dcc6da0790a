import type { PluginFault } from '../../typescript/check-types.ts';
import type { CheckedTexts, Diagnoser } from '../diagnosis/diagnose.ts';
import type { Diagnosis } from '../diagnosis/diagnosis.ts';
import { builtStage, failureStages } from '../failures/failure.ts';
import type { Proposal } from '../repair.ts';
import type { FileChange, Fixer, FixerParts } from './fixer.ts';
import { fixers as allFixers } from './fixer-table.ts';
import { applyEdits } from './text-edits.ts';

/** What the fixers came to. */
export interface FixerOutcome {
  /** All steps as one, against the texts of the diagnosis; absent where no step made anything better. */
  readonly proposal?: Proposal;
  /** With it the plugin builds. Whether it does what it did is for a trial to say. */
  readonly builds: boolean;
  readonly steps: readonly Proposal[];
  /** How many changed texts were checked. */
  readonly checked: number;
}

const maxSteps = 8;
/** Changed texts that are checked, in all. */
const maxCandidates = 40;
/** Longer texts are left to people. */
const maxChars = 200_000;

/**
 * Asks the fixers one after the other, and takes the first change that makes the plugin better; again, until it builds and nothing
 * gets better any more. What does not help is taken back. The proposal is sure only when each of its steps is, and the types say no
 * more against it than before. Rejects when the signal aborts.
 */
export async function applyFixers(
  diagnosis: Diagnosis,
  parts: FixerParts & {
    readonly check: Diagnoser['check'];
    /** A trial of what builds: when it does not mend, the last step is taken back and the next change is looked at. */
    readonly accept?: (proposal: Proposal) => Promise<boolean>;
  },
  fixers: Readonly<Record<string, Fixer>> = allFixers,
): Promise<FixerOutcome> {
  const steps: Proposal[] = [];
  const seen = new Set([textKey(diagnosis.sources)]);
  let current: CheckedTexts = { builds: failureStages[diagnosis.failure.class] === builtStage, diagnosis };
  let checked = 0;
  const isSmall = [...diagnosis.sources.values()].every((text) => text.length <= maxChars);

  /** The first change that helps: a sure one before a guess, whichever fixer has it. */
  async function takeStep(): Promise<boolean> {
    const before = current;
    for await (const proposal of inOrder(before.diagnosis, parts, fixers)) {
      const changed = changeTexts(diagnosis, before.diagnosis, proposal);
      const key = textKey(new Map([...diagnosis.sources, ...changed]));
      if (seen.has(key)) continue;
      if (checked >= maxCandidates) return false;
      seen.add(key);
      checked++;
      const after = await parts.check(diagnosis, changed, parts.signal);
      const isBetterNow = isBetter(before, after, proposal.by === 'pasted-text');
      // Where a call showed the failure, a trial may see what the types do not.
      if (!isBetterNow && (parts.accept === undefined || !isNoWorse(before, after))) continue;
      steps.push(proposal);
      if (after.builds && parts.accept !== undefined && !(await parts.accept(joinSteps(diagnosis, after.diagnosis, steps)))) {
        steps.pop();
        continue;
      }
      current = after;
      return true;
    }
    return false;
  }

  // What builds and fails all the same is looked at even where the types say nothing.
  const isOver = () => steps.length > 0 && isDone(current, diagnosis);
  while (isSmall && steps.length < maxSteps && !isOver() && (await takeStep()));
  if (steps.length === 0) return { builds: false, steps, checked };
  return { proposal: joinSteps(diagnosis, current.diagnosis, steps), builds: current.builds, steps, checked };
}

/** The steps so far as one proposal. */
function joinSteps(first: Diagnosis, current: Diagnosis, steps: readonly Proposal[]): Proposal {
  const isSure = steps.every(({ sureness }) => sureness === 'sure') && hasNoMoreFaults(first, current) && !lacksNames(current);
  return {
    files: changeTexts(first, current, { files: new Map() }),
    by: [...new Set(steps.map((step) => step.by))].join(', '),
    sureness: isSure ? 'sure' : 'maybe',
    note: steps.map((step) => step.note).join(' '),
  };
}

/** Sure proposals as the fixers make them, and after these the guesses. */
async function* inOrder(
  diagnosis: Diagnosis,
  parts: FixerParts,
  fixers: Readonly<Record<string, Fixer>>,
): AsyncGenerator<Proposal> {
  const guesses: Proposal[] = [];
  for (const [name, fixer] of Object.entries(fixers)) {
    parts.signal.throwIfAborted();
    const proposals = (await ask(fixer, diagnosis, parts)).flatMap((change) => toProposal(name, change));
    guesses.push(...proposals.filter(({ sureness }) => sureness !== 'sure'));
    yield* proposals.filter(({ sureness }) => sureness === 'sure');
  }
  yield* guesses;
}

/** A service that has no time for a text is no reason to stop: other fixers may know. */
async function ask(fixer: Fixer, diagnosis: Diagnosis, parts: FixerParts): Promise<readonly FileChange[]> {
  try {
    return await fixer(diagnosis, parts);
  } catch {
    parts.signal.throwIfAborted();
    return [];
  }
}

function toProposal(by: string, { file: { path, text }, edits, note, sureness, isPart }: FileChange): Proposal[] {
  const changed = applyEdits(text, edits);
  return changed === text
    ? []
    : [{ files: new Map([[path, changed]]), by, sureness: isPart === true ? 'maybe' : sureness, note }];
}

/** A plugin that did not build is done when it does and its types are no worse; one that did, when its types say nothing. */
function isDone({ builds, diagnosis }: CheckedTexts, first: Diagnosis): boolean {
  if (!builds) return false;
  const faults = diagnosis.typeErrors ?? [];
  return (
    faults.length === 0 ||
    (failureStages[first.failure.class] < builtStage && hasNoMoreFaults(first, diagnosis) && !lacksNames(diagnosis))
  );
}

/** `opens`: what was no code is code now, of which all faults are seen for the first time. */
function isBetter(before: CheckedTexts, after: CheckedTexts, opens: boolean): boolean {
  const [from, to] = [stageOf(before), stageOf(after)];
  if (opens) return true;
  const [syntaxBefore, syntaxAfter] = [countFaults(before, true), countFaults(after, true)];
  if (to !== from) return to > from && syntaxAfter <= syntaxBefore;
  if (syntaxAfter !== syntaxBefore) return syntaxAfter < syntaxBefore;
  const [typesBefore, typesAfter] = [countFaults(before, false), countFaults(after, false)];
  if (typesAfter !== typesBefore) return typesAfter < typesBefore;
  // The next of several failures, of which only one is told at a time.
  return to < builtStage && after.diagnosis.failure.key !== before.diagnosis.failure.key;
}

function isNoWorse(before: CheckedTexts, after: CheckedTexts): boolean {
  return before.builds && after.builds && countFaults(after, false) <= countFaults(before, false);
}

function stageOf({ builds, diagnosis }: CheckedTexts): number {
  return builds ? builtStage : Math.min(failureStages[diagnosis.failure.class], builtStage - 1);
}

function countFaults({ diagnosis }: CheckedTexts, isSyntax: boolean): number {
  return (diagnosis.typeErrors ?? []).filter((fault) => fault.isSyntax === isSyntax).length;
}

/**
 * Whether the types say nothing that they did not say before. While the syntax was wrong they said nothing: then any fault is one
 * too many.
 */
function hasNoMoreFaults(before: Diagnosis, after: Diagnosis): boolean {
  if (before.typeErrors === undefined || after.typeErrors === undefined) return false;
  const wasSyntax = before.typeErrors.some(({ isSyntax }) => isSyntax);
  const known = wasSyntax ? [] : before.typeErrors.map(faultKey);
  return after.typeErrors.every((fault) => {
    const at = known.indexOf(faultKey(fault));
    if (at !== -1) known.splice(at, 1);
    return at !== -1;
  });
}

/** Names that nothing declares, and members that are a slip: what builds with them fails as soon as it gets there. */
const lostNames: ReadonlySet<number> = new Set([2304, 2551, 2552, 18004]);
/** Harmless where it is only read. */
const noMember = 2339;

function lacksNames({ typeErrors = [], sources }: Diagnosis): boolean {
  const isCalled = ({ file, start, length }: PluginFault) => sources.get(file)?.[start + length] === '(';
  return typeErrors.some((fault) => lostNames.has(fault.code) || (fault.code === noMember && isCalled(fault)));
}

function faultKey({ file, code, message }: PluginFault): string {
  return `${file} ${code} ${message}`;
}

/** What differs from the first texts after one more change; a file that was only found is none. */
function changeTexts(first: Diagnosis, current: Diagnosis, { files }: Pick<Proposal, 'files'>): Map<string, string> {
  return new Map(
    [...current.sources, ...files].filter(([path, text]) => first.sources.has(path) && first.sources.get(path) !== text),
  );
}

function textKey(sources: ReadonlyMap<string, string>): string {
  return JSON.stringify([...sources]);
}
