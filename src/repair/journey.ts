import type { RepairSettings } from '../config/settings/repair-settings.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Generation } from '../plugins/generations/generation.ts';
import type { PluginMending, PluginStanding } from '../plugins/supervisor/mending.ts';
import { decideModelRoom } from './decide-next.ts';
import type { Diagnosis } from './diagnosis/diagnosis.ts';
import type { Failure } from './failures/failure.ts';
import type { applyFixers, FixerOutcome } from './fixers/apply-fixers.ts';
import type { ProposeByModel } from './model/propose-by-model.ts';
import { describeServing, type Proposal, type Repair, savedSince } from './repair.ts';
import type { RepairBook } from './repair-book.ts';
import type { Candidate, TryProposal } from './trial/trial.ts';
import { createTrials, type MendRequest, type Trials, type Tried } from './try-and-decide.ts';

/** What a diagnosis is asked for. */
export interface DiagnosisOrder {
  readonly failure: Failure;
  readonly standing: PluginStanding;
  readonly lastGood: Generation | undefined;
  readonly earlier: readonly Repair[];
  readonly signal: AbortSignal;
}

/** What a repair works with. */
export interface JourneyParts {
  readonly settings: RepairSettings;
  readonly book: RepairBook;
  readonly mending: PluginMending;
  readonly diagnose: (order: DiagnosisOrder) => Promise<Diagnosis>;
  /** Asks the fixers; what builds is put to `accept`, and the next change is looked at where that says no. */
  readonly mendByFixers: (
    diagnosis: Diagnosis,
    accept: NonNullable<Parameters<typeof applyFixers>[1]['accept']>,
    signal: AbortSignal,
  ) => Promise<FixerOutcome>;
  readonly tryProposal: TryProposal;
  /** Absent where no model may be asked. */
  readonly proposeByModel: ProposeByModel | undefined;
}

/** A repair from its diagnosis to its end: fixers, then the model, each proposal tried; then published, proposed or given up. */
export async function mend(parts: JourneyParts, repair: Repair, request: MendRequest): Promise<Repair> {
  const { failure, standing, signal } = request;
  const earlier = parts.book.list({ path: repair.path, limit: 20 }).filter(({ id }) => id !== repair.id);
  const diagnosis = await parts.diagnose({ failure, standing, lastGood: request.diagnosed, earlier, signal });
  const trials = createTrials(parts, repair, { ...request, sources: diagnosis.sources });
  const accept = async (proposal: Proposal) => {
    const tried = trials.isOver() ? undefined : await trials.run(proposal, 'repair');
    return trials.isOver() || (tried !== undefined && tried.step !== 'put-aside');
  };
  let reason: string | undefined;
  try {
    await parts.mendByFixers(diagnosis, accept, signal);
    if (trials.best() === undefined) reason = await askModel(parts, repair, diagnosis, trials, signal);
    signal.throwIfAborted();
  } catch (error) {
    trials.releaseAllBut(undefined);
    throw error;
  }
  const best = trials.best();
  trials.releaseAllBut(best);
  if (best?.step === 'publish' && best.report.candidate !== undefined)
    return publish(parts, repair, standing, diagnosis, best, best.report.candidate);
  best?.report.candidate?.release();
  if (![...diagnosis.sources].every(([path, text]) => parts.mending.holds(path, text)))
    return parts.book.move(repair.id, 'superseded', { reason: savedSince });
  if (best === undefined) return parts.book.move(repair.id, 'given-up', { reason: describeGivingUp(trials, reason, failure) });
  return parts.book.move(repair.id, 'proposed', {
    reason: `${describeAsks(best)} See it: hotcell repair show ${repair.id}; then: hotcell repair apply ${repair.id}, or: hotcell repair reject ${repair.id}.`,
    author: best.proposal.author,
    proposal: best.proposal,
  });
}

/** Why no model was asked, or did not help. */
async function askModel(
  parts: JourneyParts,
  repair: Repair,
  diagnosis: Diagnosis,
  trials: Trials,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { settings, book, proposeByModel } = parts;
  if (proposeByModel === undefined || settings.byModel === 'off') return undefined;
  const room = decideModelRoom(book.usedOf(repair.path), settings);
  if (room === undefined)
    return 'The tokens or the money of the plugin for today are used up (repair.tokensPerDay, repair.costPerDay).';
  return proposeByModel({
    diagnosis,
    room,
    signal,
    onUse: (used) => book.addUse(repair.id, used),
    tryPatch: (proposal) => trials.run(proposal, 'model'),
    isOver: trials.isOver,
  });
}

/** Publishes what was tried, and writes it where the daemon may. */
async function publish(
  { book, mending, settings }: JourneyParts,
  repair: Repair,
  { path }: PluginStanding,
  { sources }: Diagnosis,
  { proposal }: Tried,
  candidate: Candidate,
): Promise<Repair> {
  const { author } = proposal;
  const { build } = candidate;
  const mayWrite = settings.write || mending.isOwnWork(path);
  book.move(repair.id, 'publishing', { reason: 'is being published', author, proposal, generationHash: build.contentHash });
  const reason = `mended by ${proposal.by} (${repair.id})`;
  const outcome = await mending.publish(path, { build, author, diagnosed: sources, contentHash: repair.contentHash, reason });
  if (outcome.kind === 'changed' || outcome.kind === 'refused') {
    candidate.release();
    const why = outcome.kind === 'changed' ? savedSince : outcome.reason;
    return book.move(repair.id, outcome.kind === 'changed' ? 'superseded' : 'given-up', { reason: why });
  }
  const { id, number } = outcome.generation;
  const serves =
    outcome.kind === 'published'
      ? describeServing(repair.id, number)
      : `Generation ${number} serves once it is granted what it asks for: hotcell why ${repair.plugin}. Write it into the file: hotcell repair apply ${repair.id}; take it back: hotcell repair rollback ${repair.id}.`;
  const published = book.move(repair.id, 'published', { reason: serves, generation: id, generationNumber: number });
  return mayWrite ? writeRepair({ book, mending }, published, author) : published;
}

/** Names, where a later save stands in the way, the command that shows both. */
export async function orShow<Done>({ id }: Repair, work: Promise<Done>): Promise<Done> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof HotcellError) || error.code !== 'conflict') throw error;
    const fix = `See what the repair changed, and keep what is good of both: hotcell repair show ${id}.`;
    throw new HotcellError('conflict', error.message, { fix, cause: error });
  }
}

/** The texts of a proposal by real path, and those in whose place they stand. */
export function textsOf({ proposal }: Pick<Repair, 'proposal'>) {
  const files = proposal?.files ?? [];
  return {
    after: new Map(files.map(({ path, after: text }) => [path, text])),
    before: new Map(files.flatMap(({ path, before: text }) => (text === null ? [] : [[path, text] as const]))),
  };
}

/** Writes what a repair proposes or published into the files of its plugin. Throws `conflict` when they are other ones now. */
export async function writeRepair(
  { book, mending }: Pick<JourneyParts, 'book' | 'mending'>,
  repair: Repair,
  by: string,
): Promise<Repair> {
  const { before, after } = textsOf(repair);
  const isNew = repair.class === 'creation';
  book.move(repair.id, 'applying', { reason: 'is being written' });
  try {
    const { ok, diagnostic } = isNew
      ? await mending.create(repair.path, [...after.values()].join(''), by)
      : await orShow(repair, mending.write(repair.path, after, before, by));
    const reason = ok ? 'It lies in the file.' : `It lies in the file, which does not load even so: ${diagnostic?.message ?? ''}`;
    const live = mending.find(repair.path)?.live;
    return book.move(repair.id, 'applied', {
      reason: `${reason} Take it back: hotcell repair rollback ${repair.id}.`,
      ...(ok && live !== undefined ? { generation: live.id, generationHash: live.contentHash } : {}),
    });
  } catch (error) {
    book.move(repair.id, repair.state, { reason: repair.reason });
    throw error;
  }
}

function describeAsks({ proposal: { note, asks } }: Tried): string {
  return asks.length === 0 ? `${note} A person decides about it.` : `${note} A person decides about it, for: ${asks.join('; ')}.`;
}

/** What was done, and the next step: that of the failure itself. */
function describeGivingUp(trials: Trials, reason: string | undefined, { fix, executionId }: Failure): string {
  const count = trials.count();
  const tried =
    count === 0
      ? 'Nothing is known that would mend it.'
      : count === 1
        ? 'The one change that was tried does not mend it.'
        : `None of ${count} changes that were tried mends it.`;
  const call = executionId === undefined || fix.includes(executionId) ? '' : ` The call: hotcell executions show ${executionId}.`;
  return `${tried}${reason === undefined ? '' : ` ${reason}`} ${fix}${call}`;
}
