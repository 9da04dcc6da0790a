import { hash } from 'node:crypto';
import { linkSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { realPathOf } from '../../file-system/paths.ts';
import { readInput } from '../compile/read-input.ts';
import { displayPath } from '../discovery/plugin-roots.ts';
import type { PluginSource } from '../discovery/plugin-source.ts';
import type { BuildInput, Generation } from '../generations/generation.ts';
import type { Diagnostic, PluginState } from '../plugin-types.ts';
import type { ReloadResult } from '../supervisor-types.ts';
import { isOwnFile, readBuildInput, startSeen } from '../watch/seen.ts';
import type { BuildOutcome } from './build/builder-types.ts';
import { deleteSource, partFor, replaceText } from './entry-text.ts';
import type { LookQueue } from './look-queue.ts';
import { nameOfPlugin } from './plugin-record.ts';
import type { Publisher } from './publisher.ts';
import type { Reconciler } from './reconciler.ts';
import { describeWriting } from './rollback-pin.ts';
import type { SupervisorRoom } from './supervisor-parts.ts';

/** A plugin as a repair sees it. */
export interface PluginStanding {
  readonly name: string;
  readonly path: string;
  readonly source: PluginSource;
  readonly state: PluginState;
  /** As people read the path. */
  readonly shownPath: string;
  readonly diagnostic: Diagnostic | undefined;
  /** Of the files of its own as they lay there when they were judged; empty before. */
  readonly contentHash: string;
  /** The generation that serves. */
  readonly live: Generation | undefined;
  /** It serves in place of what lies in the folder. */
  readonly isPinned: boolean;
}

type TextsByPath = ReadonlyMap<string, string>;

/** A build of texts that were never on the disk, to serve in place of what lies there. */
export interface ProposedBuild {
  readonly build: Extract<BuildOutcome, { ok: true }>;
  readonly author: 'repair' | 'model';
  /** Texts by real path that have to lie on the disk still, and the hash by which that content is known. */
  readonly diagnosed: TextsByPath;
  readonly contentHash: string;
  readonly reason: string;
}

/** What came of it. `waiting`: it serves as soon as what it asks for is granted; `changed`: somebody saved meanwhile. */
export type ProposedOutcome =
  | { readonly kind: 'published' | 'waiting'; readonly generation: Generation }
  | { readonly kind: 'changed' }
  | { readonly kind: 'refused'; readonly reason: string };

/** What may be done to a plugin that failed. */
export type PluginMending = ReturnType<typeof createMending>;

/** Creates the access of repairs to plugins. Every change has its turn between two looks at the plugin. */
export function createMending(
  parts: Pick<SupervisorRoom, 'archive' | 'rows' | 'written'> & {
    readonly queues: ReadonlyMap<string, LookQueue>;
    readonly publisher: Publisher;
    readonly reconciler: Pick<Reconciler, 'remember'>;
    /** Where a new file would lie; undefined when there is one, or the name is none for a plugin. */
    readonly newSource: (file: string) => PluginSource | undefined;
    /** The queue of a file that was put there just now. */
    readonly takeIn: (path: string) => LookQueue;
  },
) {
  const { queues, archive, publisher, written } = parts;

  function publishNow({ record }: LookQueue, { build, author, diagnosed, contentHash, reason }: ProposedBuild): ProposedOutcome {
    if (![...diagnosed].every(([path, text]) => isOnDisk(path, text))) return { kind: 'changed' };
    const { manifest, inputs, artifacts, programKey } = build;
    const { seen, source } = record;
    const generation = archive.create({
      pluginPath: record.path,
      author,
      contentHash: build.contentHash,
      manifest,
      inputs,
      artifacts,
      programKey,
    });
    // What serves from now on is told apart from the folder as after a rollback: by when its files were written.
    const pinnedAwayFrom = { contentHash, writing: describeWriting(inputs) };
    publisher.apply(record, { type: 'rolled-back', pinnedAwayFrom }, { reason });
    const onDisk = inputs.map((input) => readBuildInput(input.path) ?? input);
    parts.reconciler.remember(record, { ...startSeen(source), inputs: onDisk, missing: seen?.missing ?? [] });
    publisher.offer(record, generation, { reason });
    if (record.live?.generation === generation) return { kind: 'published', generation };
    if (record.waiting?.generation === generation && record.waiting.because === 'grant') return { kind: 'waiting', generation };
    return { kind: 'refused', reason: record.diagnostic?.message ?? `the plugin is ${record.lifecycle.state}` };
  }

  return {
    /** By path; undefined when it is not there. */
    find(path: string): PluginStanding | undefined {
      const record = queues.get(path)?.record;
      return (
        record && {
          name: nameOfPlugin(record),
          path,
          source: record.source,
          state: record.lifecycle.state,
          shownPath: record.shownPath,
          diagnostic: record.diagnostic,
          contentHash: hashOwnFiles(record.seen?.inputs ?? []),
          live: record.live?.generation,
          isPinned: record.pinnedAwayFrom !== undefined,
        }
      );
    },
    /** All that are there. */
    paths: () => [...queues.keys()],
    /** Those that have a diagnostic. */
    failing: () => [...queues.values()].flatMap(({ record }) => (record.diagnostic === undefined ? [] : [record.path])),
    /** The generation that serves, or the last that did and was not of a repair. */
    lastGood(path: string): Generation | undefined {
      const kept = archive.listKept(path).find(({ author }) => author === 'operator' || author === 'caller');
      return queues.get(path)?.record.live?.generation ?? kept;
    },
    isKept: archive.holdsProgram,
    newSource: parts.newSource,
    /** Looks at the folder now: what was saved a moment ago counts. */
    look: async (path: string) => queues.get(path)?.check('a repair was asked for'),
    /** Whether a file holds exactly this text. */
    holds: isOnDisk,
    async publish(path: string, proposed: ProposedBuild): Promise<ProposedOutcome> {
      const queue = queues.get(path);
      if (queue === undefined) return { kind: 'changed' };
      const outcome = await queue.run(() => publishNow(queue, proposed));
      // A repair is told of only once the end of the daemon cannot undo it.
      parts.rows.flush();
      await archive.flush();
      return outcome;
    },
    /**
     * Takes a generation out of service again: the newest one before it that nobody took back serves, if there is one, and the folder
     * is judged anew. Answers false, and does nothing, when that generation does not serve any more.
     */
    async recall(path: string, generationId: string, isTakenBack: (generation: Generation) => boolean): Promise<boolean> {
      const queue = queues.get(path);
      const isRecalled = await queue?.run(() => {
        const { record } = queue;
        const current = record.live?.generation ?? record.waiting?.generation;
        if (current === undefined || current.id !== generationId) return false;
        const before = archive.listKept(path).find((kept) => kept.number < current.number && !isTakenBack(kept));
        if (before === undefined) publisher.apply(record, { type: 'recalled' }, { reason: 'the repair was taken back' });
        else if (record.live?.generation === current) {
          const inputs = record.seen?.inputs ?? [];
          // It serves in place of the folder, until the folder is judged anew.
          const folder = { contentHash: hashOwnFiles(inputs), writing: describeWriting(inputs) };
          const pinnedAwayFrom = record.pinnedAwayFrom ?? folder;
          publisher.apply(record, { type: 'rolled-back', pinnedAwayFrom }, { reason: 'rollback' });
          publisher.offer(record, before, { reason: `the repair was taken back to generation ${before.number}` });
        }
        return true;
      });
      if (isRecalled) await queue?.reload('the repair was taken back');
      return isRecalled ?? false;
    },
    /**
     * Writes texts by real path, each in place of the one that is expected there, and reloads. Throws `conflict`, before anything is
     * written, when another one lies there.
     */
    async write(path: string, texts: TextsByPath, expected: TextsByPath, by: string): Promise<ReloadResult> {
      const queue = queues.get(path);
      if (queue === undefined) throw new HotcellError('conflict', `${path} is not there any more.`);
      const { source } = queue.record;
      const note = (file: string, sha256: string) => written.note(file, sha256, by);
      await queue.run(async () => {
        const seen = new Map<string, string>();
        for (const [file, text] of expected) {
          const read = readInput(file);
          const isThere = typeof read !== 'string' && (read.text === text || read.text === texts.get(file));
          // A folder on the way that is a link now leads to other files.
          if (!isThere || realPathOf(file) !== file)
            throw new HotcellError('conflict', `${displayPath(source.root, file)} was changed since, so nothing was written.`);
          seen.set(file, read.input.sha256);
        }
        const done: string[] = [];
        try {
          // What was looked at has to lie there still: a save while the file before it is written counts.
          for (const [file, text] of texts) {
            await replaceText(source, file, text, seen.get(file), note);
            done.push(file);
          }
        } catch (error) {
          for (const file of done) {
            const [before, text] = [expected.get(file), texts.get(file) ?? ''];
            if (before !== undefined && isOnDisk(file, text))
              await replaceText(source, file, before, hash('sha256', text, 'hex'), note);
          }
          throw error;
        }
      });
      return queue.reload('a repair was written');
    },
    /** Writes a file that is not there yet, and loads it. Throws `conflict` when there is one. */
    async create(path: string, text: string, by: string): Promise<ReloadResult> {
      const file = join(realpathSync.native(dirname(path)), basename(path));
      written.note(file, hash('sha256', text, 'hex'), by);
      // A link is there whole or not at all, and takes the place of nothing; the leading dot keeps the other name from being a plugin.
      const part = partFor(file);
      try {
        writeFileSync(part, text, { flag: 'wx' });
        linkSync(part, file);
      } catch (error) {
        const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
        const why = isThere ? 'is there already, so it was not written' : 'could not be written';
        throw new HotcellError('conflict', `${basename(path)} ${why}.`, { cause: error });
      } finally {
        rmSync(part, { force: true });
      }
      return parts.takeIn(path).reload('it was written');
    },
    /** Deletes a file while it holds exactly this text; false, and nothing is done, when it does not. */
    async removeWritten(path: string, text: string): Promise<boolean> {
      const queue = queues.get(path);
      const isGone = await queue?.run(async () => {
        if (!isOnDisk(queue.record.source.realEntry, text)) return false;
        await deleteSource(queue.record.source);
        return true;
      });
      if (isGone) await queue?.check('removed');
      return isGone ?? false;
    },
    /** Whether the daemon itself wrote what lies in the folder. */
    isOwnWork(path: string): boolean {
      const { author } = written.authorOf(queues.get(path)?.record.seen?.inputs ?? []);
      return author === 'repair' || author === 'model';
    },
  };
}

/** Tells contents of a plugin apart, whether they build or not. */
function hashOwnFiles(inputs: readonly BuildInput[]): string {
  const lines = inputs.filter(isOwnFile).map(({ path, sha256 }) => `${path}\0${sha256}`);
  return lines.length === 0 ? '' : hash('sha256', lines.sort().join('\n'), 'hex');
}

function isOnDisk(path: string, text: string): boolean {
  const read = readInput(path);
  return typeof read !== 'string' && read.text === text;
}
