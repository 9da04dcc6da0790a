import { builtinModules } from 'node:module';
import type { PartialMessage } from 'esbuild';
import type { EngineNeed } from '../../engines/engine.ts';
import type { ErrorCode } from '../../errors/catalog.ts';

const nodeBuiltins: ReadonlySet<string> = new Set(builtinModules);

/** Why the guard refused an import; travels through esbuild as the `detail` of a message. */
export class ImportRefusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly fix: string;
  /** What another engine may have; undefined when none could help. */
  readonly need: EngineNeed | undefined;

  constructor(code: ErrorCode, message: string, fix: string, need?: EngineNeed) {
    this.code = code;
    this.message = message;
    this.fix = fix;
    this.need = need;
  }

  /** The refusal as an error for esbuild, which adds the place of the import. */
  toMessage(): PartialMessage {
    return { text: this.message, detail: this };
  }
}

/** What an import specifier asks for, as far as its text tells. */
export type SpecifierMeaning =
  | { readonly kind: 'hotcell' }
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'refused'; readonly refusal: ImportRefusal };

/**
 * The specifiers that the guard looks at before esbuild resolves them; the rest (packages, `./file`) cannot leave by
 * their text, and what they lead to is checked when it is read. Every match costs a round trip to the bundler.
 */
export function guardedSpecifiers(builtinNames: Iterable<string>): RegExp {
  const names = [...new Set([...nodeBuiltins, ...builtinNames])].map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(
    String.raw`^[A-Za-z][A-Za-z0-9+.-]*:|^[/\\]|(^|[/\\])\.\.([/\\]|$)|^hotcell(/|$)|\.node$|^(${names.join('|')})$`,
  );
}

/** Reads one specifier that matched `guardedSpecifiers`. */
export function readSpecifier(specifier: string): SpecifierMeaning {
  if (specifier === 'hotcell') return { kind: 'hotcell' };
  if (specifier.endsWith('.node')) return refused(nativeAddon(specifier));
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(specifier)?.[1]?.toLowerCase();
  if (scheme === 'node') return { kind: 'builtin', name: specifier.slice(5) };
  if (scheme === 'npm' || scheme === 'jsr') return refused(registrySpecifier(specifier));
  if (scheme !== undefined) {
    return refused(
      new ImportRefusal(
        'import-refused',
        `Import of "${clip(specifier)}" is refused: code comes only from files, not from ${scheme}: addresses.`,
        'Save the code as a file beside the plugin, or install it as a package.',
      ),
    );
  }
  if (nodeBuiltins.has(specifier)) return { kind: 'builtin', name: specifier };
  if (specifier.startsWith('/') || specifier.startsWith('\\')) return refused(outside(specifier));
  return specifier.startsWith('.') ? { kind: 'path', path: specifier } : refused(outside(specifier));
}

/** The refusal of an import that leads out of the readable folders. */
export function outside(specifier: string): ImportRefusal {
  return new ImportRefusal(
    'import-refused',
    `Import of "${clip(specifier)}" is refused: it is no file of this plugin, none that plugins share, and in no package.`,
    'Give the file a name that begins with _ if plugins share it, move it into a folder of this plugin (NAME/index.ts), or declare its folder under sharedDirs in the config.',
  );
}

/** The refusal of a native add-on. */
export function nativeAddon(specifier: string): ImportRefusal {
  return new ImportRefusal(
    'import-refused',
    `Import of "${clip(specifier)}" is refused: a native add-on (.node) is not taken from a plugin.`,
    "Use a package in plain JavaScript. Or put its package into /node_modules of the image docker.pluginImage, and write engine: 'docker'.",
    { kind: 'native-addon' },
  );
}

/** The refusal of an import that starts other programs. */
export function needsDocker(specifier: string): ImportRefusal {
  return new ImportRefusal(
    'builtin-refused',
    `Import of "${clip(specifier)}" is refused: no program is started outside of a container.`,
    "Use context.run(command, args) with the permission run, or write engine: 'docker' for the whole plugin.",
    needOf(specifier.replace(/^node:/, '')),
  );
}

/** What an engine must have for a built-in of Node; undefined for a name that Node does not have either. */
export function needOf(name: string): EngineNeed | undefined {
  if (!nodeBuiltins.has(name) && !nodeBuiltins.has(`node:${name}`)) return undefined;
  return { kind: needsProcesses.has(name) ? 'processes' : 'builtin', name };
}

/**
 * What the engine did not have, as the error of a load or a call says: a built-in of Node that a package reached for when it
 * ran, or a global. A plugin that forges the error gains nothing that an import would not give it.
 */
export function findRefusedBuiltin(error: {
  readonly name?: string;
  readonly message: string;
  readonly lacks?: string;
}): EngineNeed | undefined {
  if (error.lacks !== undefined) return needOf(error.lacks);
  const builtin = error.name === 'BuiltinRefused' ? / Node built-in "([^"]+)"/.exec(error.message)?.[1] : undefined;
  // Packages with an add-on try several places and throw an error of their own, in which the refusals stand.
  if (/\.node"\) is refused: the sandbox/.test(error.message)) return { kind: 'native-addon' };
  const required = /Dynamic require of "([^"]+)" is not supported/.exec(error.message)?.[1];
  if (required?.endsWith('.node')) return { kind: 'native-addon' };
  if (builtin !== undefined || required !== undefined) return needOf((builtin ?? required ?? '').replace(/^node:/, ''));
  const name = error.name === 'ReferenceError' ? /^'?(\w+)'? is not defined/.exec(error.message)?.[1] : undefined;
  return name !== undefined && globalsOfEngines.has(name) ? { kind: 'global', name } : undefined;
}

/** Globals that the higher engines have and the sandbox has not. */
const globalsOfEngines: ReadonlySet<string> = new Set([
  'AsyncDisposableStack',
  'Atomics',
  'BroadcastChannel',
  'DisposableStack',
  'EventSource',
  'SharedArrayBuffer',
  'URLPattern',
  'WebAssembly',
  'WebSocket',
  'WebSocketStream',
  'Worker',
]);

/** Built-ins that start other programs. */
export const needsProcesses: ReadonlySet<string> = new Set(['child_process', 'cluster']);

/** Shortens what a plugin wrote, so that a diagnostic stays readable. */
export function clip(text: string): string {
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}

function registrySpecifier(specifier: string): ImportRefusal {
  const name = /^[a-z]+:\/?((?:@[^/@]+\/)?[^/@]+)/i.exec(specifier)?.[1] ?? 'NAME';
  return new ImportRefusal(
    'import-refused',
    `Import of "${clip(specifier)}" is refused: ${specifier.slice(0, 4)} specifiers are not available yet.`,
    `Install the package beside the plugin (npm install ${name}) and import it as "${name}".`,
  );
}

function refused(refusal: ImportRefusal): SpecifierMeaning {
  return { kind: 'refused', refusal };
}
