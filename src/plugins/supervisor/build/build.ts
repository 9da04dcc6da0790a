import { basename } from 'node:path';
import { isHigherEngine } from '../../../config/engine-names.ts';
import type { Limits } from '../../../config/limits.ts';
import type { Engine, EngineName, EngineNeed, LoadResult } from '../../../engines/engine.ts';
import { decideBuild } from '../../../engines/escalation.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { listSchemaWarnings } from '../../../tools/validation/validator.ts';
import type { Author } from '../../../units/unit.ts';
import type { BuildFailure, Compiler, SourceFile } from '../../compile/compile-types.ts';
import { explainServerLibrary, speaksOfOtherTools } from '../../compile/other-shapes.ts';
import { type ProposedTexts, readInput as readPluginText } from '../../compile/read-input.ts';
import { findRefusedBuiltin } from '../../compile/specifiers.ts';
import { explainLoadError } from '../../diagnostics/load-diagnostic.ts';
import { nameFromFile } from '../../discovery/entry-names.ts';
import type { PluginSource } from '../../discovery/plugin-source.ts';
import { hashBytes } from '../../generations/artifact-files.ts';
import type { EscalatedFrom, PluginManifest } from '../../generations/generation.ts';
import { programKey } from '../../generations/program.ts';
import { type OtherShape, readOtherShape } from '../../manifest/other-shape.ts';
import { readManifest } from '../../manifest/read-manifest.ts';
import type { Diagnostic } from '../../plugin-types.ts';
import type { SchemaReader, SchemaReadResult } from '../../schema/schema-types.ts';
import { readBuildInput } from '../../watch/seen.ts';
import type { BuildOutcome, Compiled, NotCompiled, PluginBuilder } from './builder-types.ts';
import { compileModule } from './compile-module.ts';
import { advise, askForEngine, describeEngineRequest, type EscalationParts } from './engine-requests.ts';

/** What the builder works with. */
export interface BuilderParts {
  readonly compiler: Compiler;
  readonly schemaReader: SchemaReader;
  readonly engines: Partial<Record<EngineName, Pick<Engine, 'load'>>>;
  /** Limits of a trial load. */
  readonly limits: Limits;
  /** Why no plugin may run on an engine; undefined when it may. */
  readonly refuseEngine?: (engine: EngineName) => string | undefined;
  /** Decides about plugins that their engine cannot run; without it they only fail. */
  readonly escalation?: EscalationParts;
}

/** How a plugin is compiled. */
interface CompileHow {
  readonly engine: EngineName;
  readonly isAdapted?: boolean;
  readonly isTrial?: boolean;
  readonly proposed?: ProposedTexts | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Built = Extract<BuildOutcome, { ok: true }>;

/** Creates the builder: compile, evaluate with no capability, read the manifest. */
export function createBuilder(parts: BuilderParts): PluginBuilder {
  async function compile(source: PluginSource, how: CompileHow): Promise<Compiled | NotCompiled> {
    const { engine, isAdapted = false, isTrial = false, proposed, signal } = how;
    if (engine === 'extism') return compileModule(source, proposed);
    const { entry, pluginDir, root, kind } = source;
    const isFolder = kind === 'folder';
    let inferred: Promise<SchemaReadResult> | undefined;
    const request = {
      entry,
      rootDir: root.path,
      pluginDir,
      isFolder,
      target: engine,
      isAdapted,
      isTrial,
      proposed,
      ...(signal ? { signal } : {}),
      onSources(sources: readonly SourceFile[]) {
        inferred = readText(source, sources);
      },
    };
    const result = await parts.compiler.compile(request);
    if (!result.ok) return result;
    const { code, sourceMap, sources, contentHash, inputs, warnings } = result;
    return { ok: true, engine, contentHash, inputs, warnings, isAdapted, inferred, artifacts: { code, sourceMap, sources } };
  }

  const readText = (source: PluginSource, sources: readonly SourceFile[]) =>
    parts.schemaReader.read(sources, relativeEntry(sources, source));

  /** Evaluates what was compiled and reads its manifest; `needs` says what the engine did not have. */
  async function finish(source: PluginSource, compiled: Compiled, escalated?: EscalatedFrom): Promise<Built | NotCompiled> {
    const { engine, inputs, artifacts, contentHash } = compiled;
    const fail = (diagnostic: Diagnostic): NotCompiled => ({ ok: false, diagnostic, inputs, missing: [] });
    const [loaded, inferred] = await Promise.all([
      load(parts, source, compiled),
      engine !== 'extism' ? (compiled.inferred ?? readText(source, artifacts.sources)) : undefined,
    ]);
    if (!loaded.ok) {
      if ('diagnostic' in loaded) return fail(loaded.diagnostic);
      const need = findRefusedBuiltin(loaded.error);
      const explained = explainLoadError(loaded.error, artifacts, inferred?.earlyReads);
      // Code that was stopped has no place of its own.
      const place = loaded.error.code === 'time-exceeded' && explained.file === undefined ? { file: source.name } : {};
      return { ...fail({ ...explained, ...place }), ...(need ? { needs: [need] } : {}) };
    }
    const shape = compiled.isAdapted ? readOtherShape(loaded.exported) : undefined;
    if (shape?.isFound === false) {
      const text = artifacts.sources.find(({ path }) => path === relativeEntry(artifacts.sources, source))?.text ?? '';
      return { ...fail(noTools), advice: explainServerLibrary(text) ?? shape.advice };
    }
    const { exported } = shape ?? loaded;
    const read = readManifest({ exported, fileName: source.name, ...(inferred ? { inferred } : {}) });
    if (!read.ok) return fail(read.diagnostic);
    if (read.manifest.engine !== (escalated?.from ?? engine))
      return fail(describeWrongEngine(source, read.manifest.engine, engine));
    const ofManifest = [...read.manifest.warnings, ...listSchemaWarnings(read.manifest.tools)];
    const warnings = [...compiled.warnings, ...loaded.warnings, ...ofManifest, ...describeShape(shape)];
    const image = loaded.image ? { image: loaded.image } : {};
    const shaped = shape ? { ...read.manifest, shape: shape.name } : read.manifest;
    const manifest = escalated ? moveUp(shaped, engine, escalated) : shaped;
    const { programKey: key = codeKey(source, compiled) } = loaded;
    return {
      ok: true,
      contentHash,
      inputs,
      manifest: { ...manifest, warnings },
      artifacts: { ...artifacts, ...image },
      programKey: key,
    };
  }

  async function attempt(source: PluginSource, how: CompileHow): Promise<Built | NotCompiled> {
    const compiled = await compile(source, how);
    return compiled.ok ? finish(source, compiled) : compiled;
  }

  /** What a file exports, seen without what only a higher engine has; undefined when that cannot be told. */
  async function look(
    source: PluginSource,
    from: EngineName,
    how: Pick<CompileHow, 'isAdapted' | 'proposed'>,
  ): Promise<Built | Diagnostic | undefined> {
    const compiled = await compile(source, { ...how, engine: 'quickjs', isTrial: true });
    if (!compiled.ok) return undefined;
    const outcome = await finish(source, compiled, { from, reason: '' });
    if (outcome.ok) return outcome;
    if (!shapeFailures.has(outcome.diagnostic.code)) return undefined;
    const mayBeOther = !how.isAdapted && outcome.diagnostic.code === noTools.code;
    const other = mayBeOther ? await look(source, from, { ...how, isAdapted: true }) : undefined;
    return other === undefined || 'manifest' in other ? describeFailure(outcome) : other;
  }

  /**
   * What becomes of a plugin that its engine cannot run: it stays failed, with the engine that would do in its diagnostic; it
   * waits for a person; or it is built for a higher engine. Its code runs there only once that is decided.
   */
  async function escalate(
    { escalationOf, engines, isAllowed }: EscalationParts,
    source: PluginSource,
    author: Author,
    { failed, needs, how }: { readonly failed: BuildFailure; readonly needs: readonly EngineNeed[]; readonly how: CompileHow },
  ): Promise<BuildOutcome> {
    const { engine } = how;
    const facts = {
      engine,
      needs,
      engines: await engines(),
      escalation: escalationOf(source.path),
      isOperators: author === 'operator',
    };
    const decision = decideBuild({ ...facts, approved: [] });
    if (decision.action === 'stay') return failed;
    // What an add-on exports may be the plugin itself.
    const isAddon = needs.some(({ kind }) => kind === 'native-addon');
    const lookFirst = async () => (isAddon ? undefined : look(source, engine, how));
    if (decision.action === 'suggest') {
      const seen = await lookFirst();
      return isDiagnostic(seen) ? { ...failed, diagnostic: seen } : advise(failed, decision);
    }
    const compiled = await compile(source, { ...how, engine: decision.engine });
    // Another engine would not help: what is wrong there is wrong with the plugin.
    if (!compiled.ok) return failed;
    const escalated = { from: engine, reason: decision.reason };
    if (decision.action === 'move') return finish(source, compiled, escalated);
    // What it says of itself counts once it was built.
    const name = nameFromFile(source.name);
    const engineOnly = askForEngine({ source, author, contentHash: compiled.contentHash }, { name }, decision.engine);
    const approved = isAllowed(engineOnly) ? [decision.engine] : [];
    if (decideBuild({ ...facts, approved }).action === 'move') return finish(source, compiled, { ...escalated, isGranted: true });
    // Nobody is asked for the sake of a file that is no plugin, and one question holds all that it asks for.
    const seen = await lookFirst();
    if (isDiagnostic(seen)) return { ...failed, diagnostic: seen };
    const permissions = { ...seen?.manifest.permissions, ...engineOnly.manifest.permissions };
    const { permissionsSource = 'inferred' } = seen?.manifest ?? {};
    const request = { ...engineOnly, manifest: { name, permissions }, reason: decision.reason, permissionsSource };
    return { ...failed, diagnostic: describeEngineRequest(failed, request, decision), escalation: request };
  }

  return {
    async build(source, signal, { author = 'operator', wanted, proposed } = {}) {
      const engine = await findTarget(parts, source, proposed);
      const refusal = parts.refuseEngine?.(engine);
      if (refusal !== undefined) return refuseEngine(source, engine, refusal);
      const own = await attempt(source, { engine, proposed, signal });
      if (own.ok) {
        const { contentHash, manifest } = own;
        const asking = wanted && askForEngine({ source, author, contentHash }, manifest, wanted.engine);
        if (wanted === undefined || asking === undefined || parts.escalation?.isAllowed(asking) !== true) return own;
        const higher = await compile(source, { engine: wanted.engine, proposed, signal });
        const escalated = { from: engine, reason: wanted.reason, isGranted: true, atRun: true } as const;
        return higher.ok ? finish(source, higher, escalated) : own;
      }
      const isOther = mayBeOtherShape(source, own, proposed);
      const adapted = isOther ? await attempt(source, { engine, isAdapted: true, proposed, signal }) : undefined;
      if (adapted?.ok) return adapted;
      const isAdapted = adapted !== undefined && !isOwnShape(own);
      const { needs, advice, ...rest } = isAdapted ? adapted : { ...own, advice: adapted?.advice };
      const failed = { ...rest, diagnostic: describeFailure({ ...rest, advice }) };
      if (needs === undefined || parts.escalation === undefined) return failed;
      return escalate(parts.escalation, source, author, { failed, needs, how: { engine, isAdapted, proposed, signal } });
    },
    async compileOnly(source, { engine, shape }) {
      const compiled = await compile(source, { engine, isAdapted: shape !== undefined });
      return compiled.ok ? { contentHash: compiled.contentHash, artifacts: compiled.artifacts } : undefined;
    },
  };
}

function isDiagnostic(seen: Built | Diagnostic | undefined): seen is Diagnostic {
  return seen !== undefined && 'message' in seen;
}

const noTools: Diagnostic = {
  code: 'export-missing',
  message: 'No tool was found in the file.',
  fix: 'Write: export default { name, description, handler }.',
};

/** Failures that say that a file is no plugin, whatever runs it. */
const shapeFailures: ReadonlySet<string> = new Set(['export-missing', 'manifest-invalid', 'permissions-invalid']);
/** Failures that a tool file in another shape may have for its shape alone: it imports a library, or ends a process. */
const foreignFailures: ReadonlySet<string> = new Set([
  'import-unresolved',
  'builtin-refused',
  'import-refused',
  'load-failed',
  'engine-failed',
  'time-exceeded',
]);

/** Whether a file that is no plugin is worth another look as a tool file in another shape. */
function mayBeOtherShape(
  source: PluginSource,
  { diagnostic: { code } }: NotCompiled,
  proposed: ProposedTexts | undefined,
): boolean {
  if (source.kind === 'wasm') return false;
  if (code === 'export-missing') return true;
  if (code !== 'manifest-invalid' && !foreignFailures.has(code)) return false;
  const read = readPluginText(source.realEntry, proposed);
  return typeof read !== 'string' && speaksOfOtherTools(read.text);
}

/** Whether what is wrong with a file is to be said of it as a plugin: it is written as one, or as nothing else. */
function isOwnShape({ diagnostic: { code } }: NotCompiled): boolean {
  return shapeFailures.has(code);
}

function describeFailure({ diagnostic, advice }: Pick<NotCompiled, 'diagnostic' | 'advice'>): Diagnostic {
  return advice === undefined || diagnostic.code !== 'export-missing' ? diagnostic : { ...diagnostic, ...advice };
}

function describeShape(shape: OtherShape | undefined): string[] {
  if (!shape?.isFound) return [];
  if (shape.options.length === 0) return [...shape.misspelt];
  return [
    ...shape.misspelt,
    `The class was made without options; it looks for ${shape.options.join(', ')}. Export an instance to give them.`,
  ];
}

/** What a build for a higher engine says of itself; the permission that a person gave can be taken back at any time. */
function moveUp(manifest: PluginManifest, engine: EngineName, escalated: EscalatedFrom): PluginManifest {
  const { permissions } = manifest;
  return {
    ...manifest,
    engine,
    climbed: escalated,
    permissions: escalated.isGranted ? { ...permissions, engine: [engine] } : permissions,
  };
}

function refuseEngine(source: PluginSource, engine: EngineName, message: string): BuildOutcome {
  const inputs = [readBuildInput(source.realEntry)].filter((input) => input !== undefined);
  const fix = `Add "${engine}" to engines.allow in the config, or write the plugin for another engine.`;
  return { ok: false, diagnostic: { code: 'engine-refused', message, file: source.name, fix }, inputs, missing: [] };
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
    const key = codeKey(source, compiled);
    return await runner.load({ key, label: source.name, code: artifacts.code, limits: parts.limits });
  } catch (error) {
    // An engine that is not installed is the operator's to mend, and says how.
    if (!(error instanceof HotcellError)) throw error;
    return { ok: false, diagnostic: { code: error.code, message: error.message, file: source.name, fix: error.fix } };
  }
}

function codeKey(source: PluginSource, { engine, artifacts }: Compiled): string {
  return programKey(engine, source.path, hashBytes(artifacts.code));
}

/** The entry as the compiler names it: relative to the root folder. */
function relativeEntry(sources: readonly SourceFile[], source: PluginSource): string {
  const named = source.kind === 'folder' ? `${source.name}/${basename(source.entry)}` : source.name;
  // Behind a symlink the source has another name; the entry is read first.
  return sources.some(({ path }) => path === named) ? named : (sources[0]?.path ?? named);
}

/** The engine must be known before any code runs, so it is read off the text, and only where the text speaks of one. */
async function findTarget(parts: BuilderParts, source: PluginSource, proposed: ProposedTexts | undefined): Promise<EngineName> {
  if (source.kind === 'wasm') return 'extism';
  const read = readPluginText(source.realEntry, proposed);
  if (typeof read === 'string' || !/\bengine\b/.test(read.text)) return 'quickjs';
  const path = basename(source.entry);
  const { engine } = await parts.schemaReader.read([{ path, text: read.text }], path);
  return isHigherEngine(engine) ? engine : 'quickjs';
}

function describeWrongEngine(source: PluginSource, wanted: EngineName, engine: EngineName): Diagnostic {
  const message = `"${source.name}" asks for the engine "${wanted}", but was built for "${engine}".`;
  const fix =
    wanted === 'extism' || engine === 'extism'
      ? 'Leave engine out.'
      : `Write it as a literal in the default export of the entry: engine: '${wanted}'.`;
  return { code: 'manifest-invalid', message, file: source.name, fix };
}
