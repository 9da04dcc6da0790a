import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { omitUndefined } from '../../config/json-object.ts';
import type { Program } from '../../engines/engine.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { GenerationTable } from '../../store/tables/plugins/generations.ts';
import type { Author } from '../../units/unit.ts';
import { type ArtifactFiles, type Artifacts, hashBytes, type TraceFiles } from './artifact-files.ts';
import type { BuildInput, Generation, PluginManifest } from './generation.ts';
import { fromRow, type GenerationFacts, type Maker, toGenerationRow } from './generation-rows.ts';

/** What a build hands over to become a generation. */
export interface NewGeneration {
  readonly pluginPath: string;
  readonly author: Author;
  readonly writtenBy?: string;
  readonly contentHash: string;
  readonly manifest: PluginManifest;
  readonly inputs: readonly BuildInput[];
  readonly artifacts: Artifacts;
  /** Under which its engine knows what was loaded. */
  readonly programKey: string;
}

/** What the archive works with. */
export interface ArchiveParts {
  readonly table: GenerationTable;
  readonly files: ArtifactFiles;
  /** Names what makes bundles and manifests; rows of another one are not read. */
  readonly madeBy: Maker;
  readonly now: () => number;
  /** Builds the code of a generation again when its file is gone or damaged; undefined when its content is gone too. */
  readonly rebuildCode: (generation: Generation) => Promise<string | Uint8Array | undefined>;
  /** Told when something could not be saved. Must not throw. */
  readonly onProblem: (message: string) => void;
}

interface Unsaved {
  readonly generation: Generation;
  readonly facts: GenerationFacts;
  readonly artifacts: Artifacts;
}

/** Keeps generations. */
export type GenerationArchive = ReturnType<typeof createArchive>;

/** Creates the archive over a table and a folder: the newest in memory until they are on the disk, all others on the disk alone. */
export function createArchive(parts: ArchiveParts) {
  const { table, files, madeBy, now, onProblem } = parts;
  const unsavedById = new Map<string, Unsaved>();
  const lastNumberByPath = new Map<string, number>();
  const failedIds = new Set<string>();
  let saving: Promise<void> = Promise.resolve();

  function bind(facts: GenerationFacts): Generation {
    const { codeHash, imageHash, programKey, ...rest } = facts;
    const { engine, hooks } = facts.manifest;
    const label = facts.manifest.name;
    const program: Program = {
      key: programKey,
      label,
      async readCode() {
        const kept = unsavedById.get(facts.id)?.artifacts.code ?? (await files.readCode(facts, codeHash));
        const code = kept ?? (await parts.rebuildCode(generation));
        if (code === undefined) {
          throw new HotcellError('plugin-not-ready', `The code of this generation of "${label}" is gone from the disk.`, {
            fix: `Reload it: hotcell plugin reload ${label}.`,
          });
        }
        return engine !== 'extism' && typeof code !== 'string' ? new TextDecoder().decode(code) : code;
      },
      async readImage() {
        const unsaved = unsavedById.get(facts.id);
        if (unsaved) return unsaved.artifacts.image;
        const hash = table.get(facts.id)?.imageHash ?? imageHash;
        return hash === null ? undefined : files.readImage(facts, hash);
      },
      saveImage: (image) => enqueue(() => saveImage(facts, image)),
    };
    const runner = { by: 'engine', engine, program, handsOver: hooks.onReload } as const;
    const generation: Generation = { ...rest, kind: 'plugin', runner };
    return generation;
  }

  function restore(row: ReturnType<GenerationTable['get']>): Generation | undefined {
    const facts = row && fromRow(row, madeBy);
    return facts && bind(facts);
  }

  /** Each in a turn of its own, behind the calls that wait for what was published. */
  function enqueue(task: () => Promise<void>): void {
    saving = saving
      .then(nextTurn)
      .then(task)
      .catch((error: unknown) => onProblem(describeProblem(error)));
  }

  async function saveImage(facts: GenerationFacts, image: Uint8Array): Promise<void> {
    const row = table.get(facts.id);
    if (!row) return;
    await files.writeImage(facts, image);
    table.upsert({ ...row, imageHash: hashBytes(image) });
  }

  async function saveOne(id: string): Promise<void> {
    const unsaved = unsavedById.get(id);
    if (!unsaved) return;
    failedIds.add(id);
    await files.write(unsaved.facts, unsaved.artifacts);
    // Forgotten while it was being written: leave nothing behind.
    if (unsavedById.get(id) !== unsaved) return files.remove(unsaved.facts);
    table.upsert(toGenerationRow(unsaved.facts, madeBy));
    unsavedById.delete(id);
    failedIds.delete(id);
  }

  function unsavedOf(pluginPath: string, inputHash?: string): Unsaved[] {
    return [...unsavedById.values()].filter(
      ({ generation: { path, inputs } }) =>
        path === pluginPath && (inputHash === undefined || inputs.some(({ sha256 }) => sha256 === inputHash)),
    );
  }

  function drop(generation: Pick<Generation, 'id' | 'path'>): void {
    unsavedById.delete(generation.id);
    table.delete(generation.id);
    enqueue(() => files.remove(generation));
  }

  /** All generations of a plugin that can be made current, newest first; only those made of a file with this hash when one is given. */
  function listKept(pluginPath: string, inputHash?: string): Generation[] {
    const kept = new Map(unsavedOf(pluginPath, inputHash).map(({ generation }) => [generation.id, generation]));
    for (const row of table.listOf(pluginPath, inputHash)) {
      const generation = kept.has(row.id) ? undefined : restore(row);
      if (generation) kept.set(generation.id, generation);
    }
    return [...kept.values()].sort((a, b) => b.number - a.number);
  }

  return {
    listKept,
    /** Makes the next generation of a plugin. It is usable at once; `save` puts it on the disk. */
    create(build: NewGeneration): Generation {
      const { pluginPath, artifacts, author, writtenBy, contentHash, manifest, inputs, programKey } = build;
      const last = lastNumberByPath.get(pluginPath) ?? table.listOf(pluginPath)[0]?.number ?? 0;
      lastNumberByPath.set(pluginPath, last + 1);
      const facts: GenerationFacts = {
        id: `gen_${now().toString(36)}${randomUUID().slice(-12)}`,
        path: pluginPath,
        number: last + 1,
        author,
        ...omitUndefined({ writtenBy }),
        contentHash,
        createdAtMs: now(),
        isStale: false,
        manifest,
        inputs,
        programKey,
        codeHash: hashBytes(artifacts.code),
        imageHash: artifacts.image ? hashBytes(artifacts.image) : null,
      };
      const generation = bind(facts);
      unsavedById.set(facts.id, { generation, facts, artifacts });
      return generation;
    },
    /** Saves what is not saved yet, in the background. Serving does not depend on it. */
    save(generation: Generation): void {
      // What failed before, on a full disk, is tried again with the next one.
      const ids = [...failedIds, generation.id].filter((id) => unsavedById.has(id));
      failedIds.clear();
      for (const id of ids) enqueue(() => saveOne(id));
    },
    /** The current generations of all plugins as the last run left them, by plugin path: one query, no file. */
    restoreCurrent(): Map<string, Generation> {
      const current = new Map<string, Generation>();
      for (const row of table.listCurrent()) {
        const generation = restore(row);
        if (generation) current.set(generation.path, generation);
      }
      return current;
    },
    /** Whether a generation that is kept, live or not, is this very program: its cells are not to be touched. */
    holdsProgram: (pluginPath: string, programKey: string): boolean =>
      listKept(pluginPath).some(({ runner }) => runner.program.key === programKey),
    find: (id: string): Generation | undefined => unsavedById.get(id)?.generation ?? restore(table.get(id)),
    /** Source map and sources of a generation. */
    async readTrace(id: string): Promise<TraceFiles | undefined> {
      const kept = unsavedById.get(id)?.artifacts;
      const row = kept ? undefined : table.get(id);
      return kept ?? (row && (await files.readTrace({ id, path: row.pluginPath })));
    },
    /** Writes changed signatures of inputs, so that the next start need not read the files; other content is not written. */
    refreshInputs(generation: Generation, inputs: readonly BuildInput[]): void {
      const row = holdsSameContent(generation.inputs, inputs) ? table.get(generation.id) : undefined;
      if (row) table.upsert({ ...row, inputsJson: JSON.stringify(inputs) });
    },
    /** Deletes, in the background, the oldest generations beyond `keep`, never those that `isNeeded`. */
    prune(pluginPath: string, keep: number, isNeeded: (generation: Generation) => boolean): void {
      if ((lastNumberByPath.get(pluginPath) ?? keep + 1) <= keep) return;
      enqueue(async () => {
        const spare = listKept(pluginPath).filter((generation) => !isNeeded(generation));
        for (const generation of spare.slice(keep)) drop(generation);
      });
    },
    forget(pluginPath: string): void {
      for (const generation of listKept(pluginPath)) drop(generation);
      for (const { id } of table.listOf(pluginPath)) drop({ id, path: pluginPath });
      lastNumberByPath.delete(pluginPath);
      enqueue(() => files.removePlugin(pluginPath));
    },
    /** Resolves when nothing waits to be saved, or cannot be. */
    async flush(): Promise<void> {
      for (let seen: unknown; seen !== saving; ) {
        seen = saving;
        await saving;
      }
    },
  };
}

function holdsSameContent(built: readonly BuildInput[], now: readonly BuildInput[]): boolean {
  return (
    built.length === now.length && built.every(({ path, sha256 }, at) => now[at]?.path === path && now[at].sha256 === sha256)
  );
}

function describeProblem(error: unknown): string {
  const reason = error instanceof HotcellError || error instanceof Error ? error.message : String(error);
  return `A generation could not be saved: ${reason} It keeps serving from memory, and is saved with the next one.`;
}
