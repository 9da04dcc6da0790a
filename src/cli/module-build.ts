import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../config/config-types.ts';
import { resolveLimits } from '../config/limits.ts';
import type { Engine, EngineName } from '../engines/engine.ts';
import { buildModule } from '../engines/extism/build/build-module.ts';
import type { BuiltTool } from '../engines/extism/build/freeze.ts';
import { createQuickJsEngine } from '../engines/quickjs/engine.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { suggestNearNames } from '../errors/near-names.ts';
import { loadPrelude } from '../guests/prelude.ts';
import { openPluginBuilder } from '../operations/handlers/plugins/plugin-builder.ts';
import { findSource, type PluginSource } from '../plugins/discovery/plugin-source.ts';
import type { PluginManifest } from '../plugins/generations/generation.ts';
import { listDaemonPermissions, writeSidecar } from '../plugins/manifest/write-sidecar.ts';
import type { Diagnostic } from '../plugins/plugin-types.ts';
import type { SchemaReader } from '../plugins/schema/schema-types.ts';
import type { BuildOutcome } from '../plugins/supervisor/build/builder-types.ts';
import { listOfferings } from '../units/offering.ts';

/** A built module, or why there is none. */
export type ModuleOutcome =
  | {
      readonly ok: true;
      readonly name: string;
      readonly module: Uint8Array;
      readonly exports: readonly string[];
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** What modules are built with. */
interface BuildSettings {
  readonly config: Config;
  /** Reads types for several builds of one process, and is closed with none of them; without it the build opens its own. */
  readonly schemaReader?: SchemaReader | undefined;
}

/** Names that the module itself needs, or that hosts call by themselves. */
const reservedExports = ['describe', 'call', 'memory', '_start', '_initialize', 'hs_init', '__wasm_call_ctors'];
const defaultMemoryBytes = 64 * 1024 * 1024;
const otherEngine: Pick<Engine, 'load'> = {
  load: async () => {
    throw new HotcellError(
      'not-supported',
      'Only a plugin of the engine quickjs can become a module; this one asks for another.',
      {
        fix: 'Leave engine out, and what only that engine has.',
      },
    );
  },
};

/**
 * Builds the plugin at a path into an Extism module, by the same steps as a reload: compile, load with no capability, read
 * the manifest; then its memory is frozen. Nothing stays behind. Rejects with `not-found` where no plugin is, or with the
 * reason of the signal.
 */
export async function buildPluginModule(
  path: string,
  { config, schemaReader }: BuildSettings,
  signal: AbortSignal,
): Promise<ModuleOutcome> {
  const source = findPlugin(path);
  const dataDir = mkdtempSync(join(tmpdir(), 'hotcell-build-'));
  // What a daemon of this folder made at its start needs not be made again.
  const made = join(config.dataDir, 'cache');
  if (existsSync(made)) cpSync(made, join(dataDir, 'cache'), { recursive: true });
  const closers: (() => Promise<void>)[] = [];
  try {
    const outcome = await buildOnce(source, { config, schemaReader, dataDir, closers }, signal);
    if (!outcome.ok) return outcome;
    return await freeze(source, outcome, { config, dataDir, signal });
  } finally {
    for (const close of closers.reverse()) await close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function findPlugin(path: string): PluginSource {
  const folder = dirname(resolve(path));
  const source = findSource({ path: folder, kind: 'plugins', label: basename(folder) }, basename(path));
  if (source && source.kind !== 'wasm') return source;
  const near = suggestNearNames(basename(path), existsSync(folder) ? readdirSync(folder) : []);
  throw new HotcellError('not-found', `Expected a plugin in TypeScript or JavaScript at ${path}, and found none.${near}`, {
    fix: 'Name a .ts or .js file, or a folder with an index.ts.',
  });
}

async function buildOnce(
  source: PluginSource,
  {
    config,
    schemaReader,
    dataDir,
    closers,
  }: BuildSettings & { readonly dataDir: string; readonly closers: (() => Promise<void>)[] },
  signal: AbortSignal,
): Promise<BuildOutcome> {
  const quickjs = await createQuickJsEngine({ dataDir, workers: { ...config.workers, max: 1 } });
  closers.push(() => quickjs.close());
  const engines: Partial<Record<EngineName, Pick<Engine, 'load'>>> = { quickjs, deno: otherEngine, docker: otherEngine };
  const builder = openPluginBuilder({ config, closers, engines, schemaReader });
  return builder.build(source, signal);
}

async function freeze(
  source: PluginSource,
  { manifest, artifacts }: Extract<BuildOutcome, { ok: true }>,
  { config, dataDir, signal }: { config: Config; dataDir: string; signal: AbortSignal },
): Promise<ModuleOutcome> {
  if (manifest.isolation !== 'call') return { ok: false, diagnostic: refuseIsolation(source, manifest) };
  const isLeavingOut = listOfferings(manifest).length > 0;
  if (manifest.tools.length === 0) return { ok: false, diagnostic: { ...withoutOfferings, file: source.name } };
  const { code, sourceMap = '{}' } = artifacts;
  const limits = resolveLimits(config.limits);
  const result = await buildModule(
    {
      code: typeof code === 'string' ? code : '',
      sourceMap,
      fileBase: basename(source.name).replace(/\.[mc]?[jt]s$/, ''),
      tools: manifest.tools.map(describeTool),
      sidecar: JSON.stringify(writeSidecar(manifest, exportOf)),
      memoryBytes: manifest.limits.memoryBytes ?? defaultMemoryBytes,
    },
    { prelude: await loadPrelude(dataDir), bounds: { wallMs: limits.wallMs, signal } },
  );
  if (!result.ok) {
    const message = `The plugin loads in a daemon, and not as a module: ${result.message}`;
    const fix = 'Do less when the module is loaded: what needs a daemon belongs into the handler.';
    return { ok: false, diagnostic: { code: 'load-failed', message, file: source.name, fix } };
  }
  const exports = ['describe', 'call', ...manifest.tools.map(({ name }) => exportOf(name))];
  const left = isLeavingOut ? [withoutOfferings.message] : [];
  const warnings = [...manifest.warnings, ...left, ...listDaemonPermissions(manifest).map(warnOfPermission)];
  return { ok: true, name: manifest.name, module: result.module, exports, warnings };
}

function describeTool(tool: PluginManifest['tools'][number]): BuiltTool {
  const { name, handler, description, input, output, examples } = tool;
  return { name, handler, exportName: exportOf(name), description, input, ...(output && { output }), examples };
}

/** No tool has a dot in its name, so the second form is nobody's. */
function exportOf(tool: string): string {
  return reservedExports.includes(tool) ? `tool.${tool}` : tool;
}

const withoutOfferings = {
  code: 'not-supported',
  message: 'A module brings tools: the prompts and resources of the plugin work in a daemon only.',
  fix: 'Give the plugin a tool, or leave it the plugin that it is.',
} as const;

function refuseIsolation(source: PluginSource, { isolation }: PluginManifest): Diagnostic {
  const message = `The plugin asks for isolation "${isolation}", and every call of a module begins with the same memory.`;
  return {
    code: 'not-supported',
    message,
    file: source.name,
    fix: 'Leave isolation out, and keep what must last in context.kv.',
  };
}

function warnOfPermission(name: string): string {
  return `What needs the permission "${name}" works in a daemon only: elsewhere it is refused when it is called.`;
}
