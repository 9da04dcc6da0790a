import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPlugin, type ExtismPluginOptions, type Plugin } from '@extism/extism';
import { buildPluginModule, type ModuleOutcome } from '../../../../src/cli/module-build.ts';
import { loadConfig } from '../../../../src/config/read/load.ts';
import { parsePermissions } from '../../../../src/permissions/parse.ts';
import { sharedTypes } from '../../../shared-builds.ts';

const never = new AbortController().signal;

/** Builds a plugin of one file. */
export async function buildText(file: string, text: string): Promise<ModuleOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-built-'));
  try {
    writeFileSync(join(folder, file), text);
    return await buildPath(join(folder, file));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Builds a plugin of the disk with the settings of a folder that has none. */
export function buildPath(path: string): Promise<ModuleOutcome> {
  const warm = process.env.HOTCELL_WARM_DATA;
  const flags = warm === undefined ? {} : { data: warm };
  const config = loadConfig({ flags, env: {}, cwd: tmpdir(), parsePermissions });
  return buildPluginModule(path, { config, schemaReader: sharedTypes.schemaReader }, never);
}

/** The bytes of a module that must have been built. */
export function moduleOf(outcome: ModuleOutcome): Uint8Array {
  if (!outcome.ok) throw new Error(outcome.diagnostic.message);
  return outcome.module;
}

/** A built module in the plain Extism SDK. */
export async function openInSdk(module: Uint8Array, options: ExtismPluginOptions = {}): Promise<SdkModule> {
  const plugin = await createPlugin({ wasm: [{ data: new Uint8Array(module) }] }, { useWasi: true, ...options });
  const call = async (name: string, input: string): Promise<string> => (await plugin.call(name, input))?.text() ?? '';
  return {
    plugin,
    call,
    tool: async (name, args = {}) => readOutput(await call(name, JSON.stringify(args))),
  };
}

/** What a test does with a module. */
export interface SdkModule {
  readonly plugin: Plugin;
  /** Calls an export and returns its text. */
  readonly call: (name: string, input: string) => Promise<string>;
  /** Calls a tool's export; its output is JSON where it parses, else text. */
  readonly tool: (name: string, args?: unknown) => Promise<unknown>;
}

function readOutput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
