import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Limits } from '../../config/limits.ts';
import type { Engine, EngineName, GuestError, LoadResult } from '../../engines/engine.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { Compiler, CompileTarget } from '../compile/compile-types.ts';
import { hashInputs } from '../compile/input-ledger.ts';
import { readInput as readPluginText } from '../compile/read-input.ts';
import { sidecarExtensions } from '../discovery/entry-names.ts';
import type { PluginSource } from '../discovery/plugin-source.ts';
import { type Artifacts, hashBytes } from '../generations/artifact-files.ts';
import { programKey } from '../generations/program.ts';
import type { PluginManifest } from '../manifest-types.ts';
import type { BuildInput, Diagnostic } from '../plugin-types.ts';
import type { SchemaReader, SchemaReadResult } from '../schema/schema-types.ts';
import { readInput } from '../watch/signature.ts';
import type { BuildOutcome, PluginBuilder } from './builder-types.ts';

/** What the manifest is read from. */
export interface ManifestQuestion {
  /** The default export as data. */
  readonly exported: unknown;
  readonly fileName: string;
  /** What was read off the source; absent for a module without one. */
  readonly inferred?: SchemaReadResult;
}

/** What the builder works with. */
export interface BuilderParts {
  readonly compiler: Compiler;
  readonly schemaReader: SchemaReader;
  readonly engines: Partial<Record<EngineName, Pick<Engine, 'load'>>>;
  readonly readManifest: (
    question: ManifestQuestion,
  ) => { readonly ok: true; readonly manifest: PluginManifest } | { readonly ok: false; readonly diagnostic: Diagnostic };
  /** Puts the manifest beside a `.wasm` into the module; throws a HotcellError when the two are no plugin. */
  readonly embedSidecar: (file: string, module: Uint8Array, sidecar: { file: string; text: string } | undefined) => Uint8Array;
  /** Turns a failure of the load into a diagnostic with the place in the user's own file. */
  readonly explainLoadError: (error: GuestError, artifacts: Artifacts) => Promise<Diagnostic>;
  /** Limits of a trial load. */
  readonly limits: Limits;
}

/** One compiled plugin, before anything of it ran. */
interface Compiled {
  readonly ok: true;
  readonly engine: EngineName;
  readonly contentHash: string;
  readonly inputs: readonly BuildInput[];
  readonly artifacts: Artifacts;
  readonly warnings: readonly string[];
}

const maxModuleBytes = 64 * 1024 * 1024;
const maxSidecarBytes = 1024 * 1024;

/** Creates the builder: compile, evaluate with no capability, read the manifest. */
export function createBuilder(parts: BuilderParts): PluginBuilder {
  async function compile(source: PluginSource, signal?: AbortSignal): Promise<Compiled | Extract<BuildOutcome, { ok: false }>> {
    if (source.kind === 'wasm') return compileModule(parts, source);
    const { entry, pluginDir, root } = source;
    const target = await findTarget(parts, source);
    const result = await parts.compiler.compile({ entry, rootDir: root.path, pluginDir, target, ...(signal ? { signal } : {}) });
    if (!result.ok) return result;
    const { code, sourceMap, sources, contentHash, inputs, warnings } = result;
    return { ok: true, engine: target, contentHash, inputs, warnings, artifacts: { code, sourceMap, sources } };
  }

  return {
    async build(source, signal) {
      const compiled = await compile(source, signal);
      if (!compiled.ok) return compiled;
      const { engine, inputs, artifacts, contentHash } = compiled;
      const fail = (diagnostic: Diagnostic): BuildOutcome => ({ ok: false, diagnostic, inputs, missing: [] });
      const [loaded, inferred] = await Promise.all([
        load(parts, source, compiled),
        engine !== 'extism' ? parts.schemaReader.read(artifacts.sources, relativeEntry(artifacts, source)) : undefined,
      ]);
      if (!loaded.ok)
        return fail('diagnostic' in loaded ? loaded.diagnostic : await parts.explainLoadError(loaded.error, artifacts));
      const read = parts.readManifest({ exported: loaded.exported, fileName: source.name, ...(inferred ? { inferred } : {}) });
      if (!read.ok) return fail(read.diagnostic);
      if (read.manifest.engine !== engine) return fail(describeWrongEngine(source, read.manifest.engine, engine));
      const warnings = [...compiled.warnings, ...loaded.warnings, ...read.manifest.warnings];
      const image = loaded.image ? { image: loaded.image } : {};
      return { ok: true, contentHash, inputs, manifest: { ...read.manifest, warnings }, artifacts: { ...artifacts, ...image } };
    },
    async compileOnly(source) {
      const compiled = await compile(source);
      return compiled.ok ? { contentHash: compiled.contentHash, code: compiled.artifacts.code } : undefined;
    },
  };
}

async function load(
  parts: BuilderParts,
  source: PluginSource,
  compiled: Compiled,
): Promise<LoadResult | { readonly ok: false; readonly diagnostic: Diagnostic }> {
  const { engine, artifacts } = compiled;
  const runner = parts.engines[engine];
  try {
    if (!runner) throw new HotcellError('not-supported', `The engine "${engine}" is not part of this daemon.`);
    const key = programKey(engine, source.path, hashBytes(artifacts.code));
    return await runner.load({ key, label: source.name, code: artifacts.code, limits: parts.limits });
  } catch (error) {
    // An engine that is not installed is the operator's to mend, and says how.
    if (!(error instanceof HotcellError)) throw error;
    return { ok: false, diagnostic: { code: error.code, message: error.message, file: source.name, fix: error.fix } };
  }
}

/** The entry as the compiler names it: relative to the root folder. */
function relativeEntry(artifacts: Artifacts, source: PluginSource): string {
  const named = source.kind === 'folder' ? `${source.name}/${basename(source.entry)}` : source.name;
  // Behind a symlink the source has another name; the entry is read first.
  return artifacts.sources.some(({ path }) => path === named) ? named : (artifacts.sources[0]?.path ?? named);
}

async function compileModule(
  parts: BuilderParts,
  source: PluginSource,
): Promise<Compiled | Extract<BuildOutcome, { ok: false }>> {
  const sidecarPath = source.sidecar;
  const stem = source.path.slice(0, -'.wasm'.length);
  const missing = sidecarPath ? [] : sidecarExtensions.map((extension) => stem + extension);
  const read = [source.realEntry, ...(sidecarPath ? [sidecarPath] : [])].map(readInput);
  const inputs = read.filter((input) => input !== undefined);
  try {
    const module = await readBounded(source.realEntry, maxModuleBytes);
    const sidecar = sidecarPath && (await readBounded(sidecarPath, maxSidecarBytes)).toString('utf8');
    // What is hashed must be what is used; a file that changed in between is seen by the check before publication.
    const code = parts.embedSidecar(
      source.name,
      module,
      sidecar && sidecarPath ? { file: basename(sidecarPath), text: sidecar } : undefined,
    );
    const contentHash = hashInputs(inputs, (path) => basename(path));
    return { ok: true, engine: 'extism', contentHash, inputs, warnings: [], artifacts: { code, sources: [] } };
  } catch (error) {
    const { code, message, fix } = error instanceof HotcellError ? error : unreadable(source);
    return { ok: false, diagnostic: { code, message, file: source.name, fix }, inputs, missing };
  }
}

/** The engine must be known before any code runs, so it is read off the text, and only where the text speaks of one. */
async function findTarget(parts: BuilderParts, source: PluginSource): Promise<CompileTarget> {
  const read = readPluginText(source.realEntry);
  if (typeof read === 'string' || !/\bengine\b/.test(read.text)) return 'quickjs';
  const path = basename(source.entry);
  const { engine } = await parts.schemaReader.read([{ path, text: read.text }], path);
  return engine === 'deno' || engine === 'docker' ? engine : 'quickjs';
}

function describeWrongEngine(source: PluginSource, wanted: EngineName, engine: EngineName): Diagnostic {
  const message = `"${source.name}" asks for the engine "${wanted}", but was built for "${engine}".`;
  const fix =
    wanted === 'extism' || engine === 'extism'
      ? 'Leave engine out.'
      : `Write it as a literal in the default export of the entry: engine: '${wanted}'.`;
  return { code: 'manifest-invalid', message, file: source.name, fix };
}

function unreadable(source: PluginSource): HotcellError {
  return new HotcellError('entry-invalid', `"${source.name}" or the manifest beside it cannot be read.`, {
    fix: 'Allow the user of the daemon to read both files.',
  });
}

async function readBounded(path: string, maxBytes: number): Promise<Buffer> {
  const bytes = await readFile(path);
  if (bytes.length <= maxBytes) return bytes;
  throw new HotcellError('entry-invalid', `${basename(path)} has ${bytes.length} bytes; at most ${maxBytes} are read.`);
}
