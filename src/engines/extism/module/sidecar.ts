import { parse as parseYaml } from 'yaml';
import { isObject } from '../../../config/json-object.ts';
import { maxInputDepth, nestsDeeper, nestsTooDeep } from '../../../config/read/json-nesting.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { readCustomSection, sidecarSection, writeCustomSection } from './module-sections.ts';
import { functionMark, isServlet } from './servlet.ts';

/** A `.wasm` plugin's manifest in the shape that every manifest is read from, and what only this engine needs of it. */
export interface Sidecar {
  /** The same data as a plugin's default export: handlers are `{"$function": true}`. */
  readonly exported: Readonly<Record<string, unknown>>;
  /** Which export of the module serves which handler. */
  readonly exportByHandler: ReadonlyMap<string, string>;
  /** What the module's `config_get` answers. */
  readonly config: Readonly<Record<string, string>>;
  /** The memory that it asks for in `limits`, in bytes. */
  readonly memoryBytes: number | undefined;
  /** The module describes its tools itself and serves them all by one export, see servlet.ts. */
  readonly isServlet: boolean;
}

/** The text of a sidecar and the file it came from, for messages. */
export interface SidecarFile {
  readonly file: string;
  readonly text: string;
}

const maxSidecarBytes = 256 * 1024;

/** The names a sidecar of `wasmFile` may have, best first: `count.wasm` is described by `count.json`, `.yaml` or `.yml`. */
export function listSidecarNames(wasmFile: string): string[] {
  const base = wasmFile.replace(/\.wasm$/i, '');
  return ['json', 'yaml', 'yml'].map((extension) => `${base}.${extension}`);
}

/**
 * Puts the sidecar into the module as a custom section, so that code and manifest are one value from here on.
 * Without a sidecar the module must carry that section already. Throws `manifest-invalid`, or `entry-invalid` for bytes
 * that are no module.
 */
export function embedSidecar(wasmFile: string, module: Uint8Array, sidecar: SidecarFile | undefined): Uint8Array {
  if (!sidecar) {
    if (readCustomSection(module, sidecarSection) || isServlet(module)) return module;
    throw new HotcellError('manifest-invalid', `Expected a manifest beside ${wasmFile}, and found none.`, {
      fix: `Write ${listSidecarNames(wasmFile)[0]}: {"name": …, "description": …, "export": …, "parameters": {…}}, or export describe and call.`,
    });
  }
  const data = parseSidecar(sidecar);
  interpretSidecar(data, sidecar.file, isServlet(module));
  return writeCustomSection(module, sidecarSection, new TextEncoder().encode(JSON.stringify(data)));
}

/** Reads what `embedSidecar` put into the module. */
export function readEmbeddedSidecar(module: Uint8Array): Sidecar {
  const section = readCustomSection(module, sidecarSection);
  const describesItself = isServlet(module);
  if (!section && describesItself) return interpretSidecar({}, 'the module', true);
  if (!section) throw new HotcellError('manifest-invalid', 'The module carries no manifest; it needs a sidecar file.');
  const file = 'the manifest inside the module';
  return interpretSidecar(parseSidecar({ file: 'sidecar.json', text: new TextDecoder().decode(section) }), file, describesItself);
}

function parseSidecar({ file, text }: SidecarFile): unknown {
  if (text.length > maxSidecarBytes) {
    throw invalid(file, `at most ${maxSidecarBytes} characters`, `${text.length}`);
  }
  if (nestsDeeper(text, maxInputDepth)) throw new HotcellError('manifest-invalid', `${file} cannot be used. ${nestsTooDeep}`);
  try {
    // Aliases are how a small YAML file becomes a huge value; its warnings would be lines of the daemon's own log.
    return file.endsWith('.json') ? JSON.parse(text) : parseYaml(text, { maxAliasCount: 0, logLevel: 'error' });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new HotcellError('manifest-invalid', `${file} cannot be read: ${reason}`);
  }
}

function interpretSidecar(data: unknown, file: string, describesItself: boolean): Sidecar {
  if (!isObject(data)) throw invalid(file, 'an object', describeType(data));
  const { export: exportName, config, tools, ...rest } = data;
  const common = { config: readConfig(config, file), memoryBytes: readMemoryBytes(rest.limits) };
  if (tools === undefined && exportName === undefined && describesItself) {
    return { exported: { ...rest, engine: 'extism' }, exportByHandler: new Map(), isServlet: true, ...common };
  }
  if (tools === undefined) {
    if (typeof exportName !== 'string' || exportName === '') {
      throw invalid(file, '"export" with the name of one export, or "tools"', describeType(exportName));
    }
    const exported = { ...rest, engine: 'extism', handler: functionMark };
    return { exported, exportByHandler: new Map([['default', exportName]]), isServlet: false, ...common };
  }
  if (!isObject(tools)) throw invalid(file, '"tools" as an object from export name to tool', describeType(tools));
  if (exportName !== undefined) throw invalid(file, 'either "export" or "tools"', 'both');
  const entries = Object.entries(tools).map(([handler, tool]) => readTool(handler, tool, file));
  return {
    exported: { ...rest, engine: 'extism', tools: Object.fromEntries(entries.map(({ handler, tool }) => [handler, tool])) },
    exportByHandler: new Map(entries.map(({ handler, exportName }) => [handler, exportName])),
    isServlet: false,
    ...common,
  };
}

function readTool(handler: string, tool: unknown, file: string) {
  if (!isObject(tool)) throw invalid(file, `"tools.${handler}" as an object`, describeType(tool));
  const { export: exportName = handler, ...rest } = tool;
  if (typeof exportName !== 'string') throw invalid(file, `"tools.${handler}.export" as text`, describeType(exportName));
  return { handler, exportName, tool: { ...rest, handler: functionMark } };
}

function readConfig(config: unknown, file: string): Record<string, string> {
  if (config === undefined) return {};
  if (!isObject(config)) throw invalid(file, '"config" as an object', describeType(config));
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}

/** Whether the rest of `limits` is right is for the manifest to say. */
function readMemoryBytes(limits: unknown): number | undefined {
  const memoryBytes = isObject(limits) ? limits.memoryBytes : undefined;
  return typeof memoryBytes === 'number' && memoryBytes > 0 ? memoryBytes : undefined;
}

function describeType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value;
}

function invalid(file: string, expected: string, found: string): HotcellError {
  return new HotcellError('manifest-invalid', `${file}: expected ${expected}, and found ${found}.`);
}
