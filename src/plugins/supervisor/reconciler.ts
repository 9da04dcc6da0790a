import type { Slots } from '../../concurrency/slots.ts';
import { isHigherEngine } from '../../config/engine-names.ts';
import type { EscalationEngine } from '../../engines/escalation.ts';
import { isPassingError } from '../../errors/system-error.ts';
import type { Author } from '../../units/unit.ts';
import { refuseLoading } from '../discovery/load-policy.ts';
import { findSource, type PluginSource } from '../discovery/plugin-source.ts';
import type { BuildInput, Generation } from '../generations/generation.ts';
import type { Diagnostic } from '../plugin-types.ts';
import { isFolderAway, isUnreadableNow } from '../watch/folder-state.ts';
import {
  compareInputs,
  compareSeen,
  inputsMatch,
  isOwnFile,
  readBuildInput,
  readSignature,
  type Seen,
  startSeen,
  wasRenamedIntoPlace,
} from '../watch/seen.ts';
import type { BuildOptions, BuildOutcome } from './build/builder-types.ts';
import type { PluginRecord } from './plugin-record.ts';
import type { Publisher } from './publisher.ts';
import { describeWriting } from './rollback-pin.ts';
import type { SupervisorRoom } from './supervisor-parts.ts';
import type { Authorship } from './written-files.ts';

/** How one look at a plugin came out. */
export type LookOutcome =
  /** Nothing to do, or done; `changed` says that another generation or state came of it. */
  | { readonly kind: 'done'; readonly changed: boolean }
  /** Somebody is still writing: look again. */
  | { readonly kind: 'unsettled' }
  | { readonly kind: 'gone' }
  /** The content is not good; whether that counts is for the caller to say. */
  | { readonly kind: 'failed'; readonly outcome: Extract<BuildOutcome, { ok: false }>; readonly seen: Seen };

/** How to look. */
export interface LookOptions {
  /** Compare contents even where the signatures are the same. */
  readonly deep: boolean;
  /** A person asked: a failure or a rollback of before is no reason to leave the content alone. */
  readonly isExplicit: boolean;
  readonly reason: string;
  readonly author: Author;
  /** Milliseconds since the first sign of the change. */
  readonly elapsedMs: () => number;
  readonly signal: AbortSignal;
}

/** Brings the generations of plugins in line with what lies on the disk. */
export type Reconciler = ReturnType<typeof createReconciler>;

/** Creates the reconciler. */
export function createReconciler(parts: SupervisorRoom & { readonly publisher: Publisher; readonly slots: Slots }) {
  const { publisher, archive, builder, users } = parts;

  /** Remembers what the present state was decided on. */
  function remember(record: PluginRecord, seen: Seen): void {
    publisher.note(record, { type: 'seen', seen });
    const { entry } = record.source;
    // The entry itself may be a link, and no input then.
    const files: [string, string | undefined][] = [[entry, readSignature(entry)]];
    for (const path of seen.missing) files.push([path, undefined]);
    for (const input of seen.inputs) files.push([input.path, input.signature]);
    users.set(record.path, new Map(files));
  }

  /** Looks at a plugin on the disk, and does what is to be done. */
  async function look(record: PluginRecord, options: LookOptions): Promise<LookOutcome> {
    const source = findSource(record.source.root, record.source.name);
    if (!source) {
      // A folder that is away as a whole takes nothing with it: its plugins keep serving.
      return isFolderAway(record.source) || isUnreadableNow(record.source.path) ? nothing : { kind: 'gone' };
    }
    publisher.note(record, { type: 'located', source });
    const refusal = refuseLoading(source.name, parts.config);
    if (refusal !== undefined) publisher.apply(record, { type: 'withheld' }, { reason: refusal });
    if (refusal !== undefined || !record.enabled) return nothing;
    const decision = decide(record, options);
    if (decision === 'nothing') return nothing;
    if (decision === 'offer-waiting' && record.waiting !== undefined) {
      publisher.apply(record, { type: 'found' }, options);
      publisher.offer(record, record.waiting.generation, { ...options, reason: 'the tool name became free' });
      return nothing;
    }
    publisher.apply(record, { type: 'found', isExplicit: options.isExplicit }, options);
    const started = startSeen(source);
    // What is kept was built for the engine that calls asked more of.
    const kept = record.escalation?.atRun ? undefined : findKept(record, started);
    if (kept) return chooseKept(record, kept, started, options);
    const outcome = await parts.slots.run(() => buildAsAuthor(record, options));
    if (!record.enabled || options.signal.aborted) return nothing;
    return take(record, outcome, started, options);
  }

  function authorOf(inputs: readonly BuildInput[], author: Author): Authorship {
    return author === 'operator' ? parts.written.authorOf(inputs) : { author };
  }

  /** Files that the entry brings in are known once it is built; a door writes the entry alone. */
  function authorOnDisk({ realEntry, sidecar }: PluginSource, author: Author): Author {
    const paths = [realEntry, ...(sidecar === undefined ? [] : [sidecar])].filter(parts.written.has);
    return authorOf(
      paths.flatMap((path) => readBuildInput(path) ?? []),
      author,
    ).author;
  }

  /** Whose work it is decides what is asked for, and is known for sure once it was read. */
  async function buildAsAuthor(record: PluginRecord, { signal, author }: LookOptions): Promise<BuildOutcome> {
    const { source } = record;
    const wanted = findWanted(record);
    const expected = authorOnDisk(source, author);
    const outcome = await build(source, signal, { author: expected, wanted });
    const actual = authorOf(outcome.inputs, author).author;
    return actual === expected || signal.aborted ? outcome : build(source, signal, { author: actual, wanted });
  }

  async function build(source: PluginSource, signal: AbortSignal, options: BuildOptions): Promise<BuildOutcome> {
    try {
      return await builder.build(source, signal, options);
    } catch (error) {
      if (!signal.aborted && !isPassingError(error)) parts.onFault(error);
      const isPassing = isPassingError(error);
      return { ok: false, diagnostic: describeFault(source, isPassing), inputs: [], missing: [], isPassing };
    }
  }

  /** Compares the disk with what the present state was decided on, and remembers what was only touched. */
  function decide(record: PluginRecord, options: LookOptions): ReturnType<typeof decideLook> {
    const { seen, pinnedAwayFrom, waiting } = record;
    const comparison = seen && compareSeen(seen, record.source, options);
    const decision = decideLook({
      record,
      files: comparison?.kind,
      isPinHolding: pinnedAwayFrom !== undefined && seen !== undefined && describeWriting(seen.inputs) === pinnedAwayFrom.writing,
      isUnblocked: waiting !== undefined && publisher.isUnblocked(record),
      isExplicit: options.isExplicit,
    });
    if (decision !== 'build' && seen !== undefined && comparison?.kind === 'touched') {
      remember(record, { ...seen, inputs: comparison.inputs });
      if (record.live) archive.refreshInputs(record.live.generation, comparison.inputs);
    }
    return decision;
  }

  function findKept(record: PluginRecord, started: Seen): Generation | undefined {
    const reads = new Map<string, BuildInput | undefined>();
    const read = (path: string) => {
      if (!reads.has(path)) reads.set(path, readBuildInput(path));
      return reads.get(path);
    };
    const entry = read(started.realEntry);
    if (entry === undefined) return undefined;
    const candidates = archive.listKept(record.path, entry.sha256);
    if (record.live) candidates.unshift(record.live.generation);
    return candidates.find(
      (kept) =>
        !kept.isStale &&
        kept.inputs.some(({ path }) => path === started.realEntry) &&
        inputsMatch(kept.inputs, read) &&
        isWorkOfFolder(kept),
    );
  }

  /** What a repair made is another's work once a person put the same text into the folder. */
  function isWorkOfFolder({ author, inputs }: Generation): boolean {
    return (author !== 'repair' && author !== 'model') || parts.written.authorOf(inputs).author === author;
  }

  function chooseKept(record: PluginRecord, kept: Generation, started: Seen, options: LookOptions): LookOutcome {
    const inputs = kept.inputs.map((input) => readBuildInput(input.path) ?? input);
    remember(record, { ...started, inputs });
    if (record.live && isPinned(record, kept.contentHash, inputs)) return revert(record, options);
    publisher.note(record, { type: 'unpinned' });
    archive.refreshInputs(kept, inputs);
    if (kept.id === record.live?.generation.id) return revert(record, options);
    publisher.offer(record, kept, { ...options, durationMs: options.elapsedMs() });
    return { kind: 'done', changed: true };
  }

  function take(record: PluginRecord, outcome: BuildOutcome, started: Seen, options: LookOptions): LookOutcome {
    if (!outcome.ok) {
      return { kind: 'failed', outcome, seen: { ...started, inputs: outcome.inputs, missing: outcome.missing } };
    }
    if (!isSettledContent(outcome.inputs, started, record.seen)) return { kind: 'unsettled' };
    remember(record, { ...started, inputs: outcome.inputs });
    if (record.live && isPinned(record, outcome.contentHash, outcome.inputs)) return revert(record, options);
    publisher.note(record, { type: 'unpinned' });
    if (record.live && isSameBuild(outcome, record.live.generation) && isWorkOfFolder(record.live.generation))
      return revert(record, options);
    const { contentHash, inputs, manifest, artifacts, programKey } = outcome;
    const generation = archive.create({
      pluginPath: record.path,
      ...authorOf(inputs, options.author),
      contentHash,
      manifest,
      inputs,
      artifacts,
      programKey,
    });
    publisher.offer(record, generation, { ...options, durationMs: options.elapsedMs() });
    return { kind: 'done', changed: true };
  }

  function revert(record: PluginRecord, options: LookOptions): LookOutcome {
    const before = record.lifecycle.state;
    publisher.apply(record, { type: 'reverted' }, options);
    return { kind: 'done', changed: record.lifecycle.state !== before };
  }

  return { look, remember };
}

/** What is known before anything is built. */
export interface LookFacts {
  readonly record: Pick<PluginRecord, 'lifecycle' | 'waiting' | 'pinnedAwayFrom' | 'escalation'>;
  /** Whether the files are what the present state was decided on; undefined when it was decided on nothing yet. */
  readonly files: 'same' | 'touched' | 'changed' | undefined;
  /** The writing that a rollback turned away from is still the last one. */
  readonly isPinHolding: boolean;
  /** The names that a waiting generation lacked are free. */
  readonly isUnblocked: boolean;
  /** A person asked. */
  readonly isExplicit: boolean;
}

/** What a look at a plugin comes to: its content is built, a generation that waited is offered, or all stays as it is. Pure. */
export function decideLook(facts: LookFacts): 'build' | 'offer-waiting' | 'nothing' {
  const { record, files, isPinHolding, isUnblocked, isExplicit } = facts;
  const { lifecycle, waiting, pinnedAwayFrom, escalation } = record;
  if (files === undefined || files === 'changed') return 'build';
  if (pinnedAwayFrom !== undefined && !isPinHolding) return 'build';
  if (waiting !== undefined && isUnblocked) return 'offer-waiting';
  if (!isExplicit) return 'nothing';
  // Who asks gets another try of what failed, was turned away from or waits for an engine.
  const isWell = lifecycle.state === 'ready' || lifecycle.state === 'pending-grant';
  return isWell && pinnedAwayFrom === undefined && escalation === undefined ? 'nothing' : 'build';
}

/** The engine that calls asked for: the escalation that waits, or the engine that the plugin moved to before. */
function findWanted({
  escalation,
  live,
}: PluginRecord): { readonly engine: EscalationEngine; readonly reason: string } | undefined {
  const { engine, climbed } = live?.generation.manifest ?? {};
  const wanted = escalation?.atRun ? escalation.manifest.permissions.engine?.[0] : climbed?.atRun ? engine : undefined;
  const reason = escalation?.reason ?? climbed?.reason ?? '';
  return isHigherEngine(wanted) ? { engine: wanted, reason } : undefined;
}

function isSameBuild(built: Pick<Generation, 'contentHash' | 'manifest'>, live: Generation | undefined): boolean {
  return live?.isStale === false && built.contentHash === live.contentHash && built.manifest.engine === live.manifest.engine;
}

/** Whether this content is the one that a rollback turned away from, and not saved again since. */
function isPinned({ pinnedAwayFrom }: PluginRecord, contentHash: string, inputs: readonly BuildInput[]): boolean {
  return pinnedAwayFrom?.contentHash === contentHash && pinnedAwayFrom.writing === describeWriting(inputs);
}

function describeFault(source: PluginSource, isPassing: boolean): Diagnostic {
  const file = source.name;
  if (isPassing) {
    const message = `"${file}" could not be built just now: the machine lacks descriptors or memory, or its disk does not answer.`;
    const fix = 'Nothing to do: it is tried again by itself. If this stays, raise ulimit -n for the daemon.';
    return { code: 'engine-failed', message, file, fix };
  }
  const message = `"${file}" could not be built because of a fault in the daemon.`;
  return { code: 'internal', message, file, fix: 'Look into the log of the daemon, then reload the plugin.' };
}

const nothing: LookOutcome = { kind: 'done', changed: false };

/**
 * The rule of publication: a file that was renamed into place is whole; a file written in place counts as whole when
 * nothing about it changed while it was compiled and loaded.
 */
function isSettledContent(inputs: readonly BuildInput[], started: Seen, before: Seen | undefined): boolean {
  const entry = inputs.find((input) => input.path === started.realEntry);
  const entryBefore = before?.inputs.find((input) => input.path === started.realEntry);
  if (entry && wasRenamedIntoPlace(entryBefore?.signature ?? before?.entrySignature, entry.signature)) return true;
  return compareInputs(inputs.filter(isOwnFile), { deep: true }).kind === 'same';
}
