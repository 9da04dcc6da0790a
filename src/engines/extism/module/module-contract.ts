import { HotcellError } from '../../../errors/hotcell-error.ts';
import type { Sidecar } from './sidecar.ts';

/** What a compiled module offers and wants. */
export interface ModuleShape {
  readonly exports: readonly WebAssembly.ModuleExportDescriptor[];
  readonly imports: readonly WebAssembly.ModuleImportDescriptor[];
}

/** The namespace of Extism's own host functions. */
export const extismNamespace = 'extism:host/env';

/** The namespace of WASI preview 1. */
export const wasiNamespace = 'wasi_snapshot_preview1';

/** Every function that a module may import from `extism:host/env`. */
export const extismFunctions = [
  'alloc',
  'free',
  'length',
  'length_unsafe',
  'load_u8',
  'load_u64',
  'store_u8',
  'store_u64',
  'input_offset',
  'input_length',
  'input_load_u8',
  'input_load_u64',
  'output_set',
  'error_set',
  'config_get',
  'var_get',
  'var_set',
  'log_trace',
  'log_debug',
  'log_info',
  'log_warn',
  'log_error',
  'get_log_level',
  'http_request',
  'http_status_code',
  'http_headers',
] as const;

/**
 * Checks a module against its sidecar: every handler's export is a function, and nothing is imported but host functions
 * that there are and WASI. Throws `export-missing` or `import-refused`.
 */
export function checkModule(shape: ModuleShape, sidecar: Sidecar): void {
  const functions = shape.exports.filter((entry) => entry.kind === 'function').map((entry) => entry.name);
  for (const [handler, exportName] of sidecar.exportByHandler) {
    if (!functions.includes(exportName)) throw missingExport(handler, exportName, functions);
  }
  const refused = shape.imports.filter((entry) => !isAllowed(entry));
  if (refused.length > 0) throw refusedImports(refused);
}

function isAllowed(entry: WebAssembly.ModuleImportDescriptor): boolean {
  if (entry.kind !== 'function') return false;
  if (entry.module === wasiNamespace) return true;
  if (entry.module === userNamespace) return userFunctions.some((name) => name === entry.name);
  return entry.module === extismNamespace && extismFunctions.some((name) => name === entry.name);
}

function missingExport(handler: string, exportName: string, functions: readonly string[]): HotcellError {
  const offered = functions.slice(0, 20).join(', ') || 'none';
  const owner = handler === 'default' ? 'the tool' : `the tool "${handler}"`;
  return new HotcellError(
    'export-missing',
    `The sidecar says that the export "${exportName}" serves ${owner}, and the module exports the functions: ${offered}.`,
    { fix: "Name one of the module's exported functions in the sidecar." },
  );
}

function refusedImports(refused: readonly WebAssembly.ModuleImportDescriptor[]): HotcellError {
  const names = refused.slice(0, 10).map((entry) => `${entry.module}.${entry.name} (${entry.kind})`);
  return new HotcellError(
    'import-refused',
    `The module may import functions of ${extismNamespace}, ${userNamespace} (${userFunctions.join(', ')}) and ${wasiNamespace} only, and it imports ${names.join(', ')}.`,
    { fix: 'Build the module with an Extism PDK and without host functions of your own.' },
  );
}

/** The namespace of host functions beyond Extism's own. */
export const userNamespace = 'extism:host/user';

/** What a module may import from it. */
export const userFunctions = ['hotcell_call', 'kv_get', 'kv_set', 'kv_delete', 'tools_call'] as const;
