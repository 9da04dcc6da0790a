import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Limits, resolveLimits } from '../config/limits.ts';
import type { Engine, Program } from '../engines/engine.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Compiler } from '../plugins/compile/compile-types.ts';
import { explainLoadError } from '../plugins/diagnostics/load-diagnostic.ts';
import type { TraceArtifacts } from '../plugins/diagnostics/trace.ts';
import type { DaemonRunner, Runner } from '../units/unit.ts';
import type { HookFiles, HookManifest, HookPlace } from './hook-types.ts';
import type { ShellScript } from './shell-runner.ts';

/** What hooks are built with. */
export interface HookBuilderParts {
  readonly compiler: Compiler;
  readonly engines: { readonly quickjs: Engine; readonly deno: Engine };
  /** Runs a script in a container. */
  readonly runScript: (script: ShellScript) => DaemonRunner;
  /** A folder of the daemon's own, in which what was read is written down for the bundler. */
  readonly stagingDir: string;
  /** The image of scripts whose HOOK.md names none; absent when the config names none. */
  readonly shellImage: string | undefined;
  /** Whether the config lets anything run in an image. */
  readonly isImageAllowed: (image: string) => boolean;
  readonly limits: Partial<Limits>;
}

/** A hook that can run. */
export interface BuiltHook {
  readonly runner: Runner;
  /** To find the place of a failure in the handler. */
  readonly artifacts: TraceArtifacts;
  /** Lets go of what its engine keeps of it. */
  readonly discard: () => void;
}

const entryName = 'hotcell-hook-entry.ts';
/** A hook has no shared folders and no packages: they would not be part of what was approved. */
const ownFolderFix = 'Copy what it needs into the folder of the hook.';
const noArtifacts: TraceArtifacts = { sources: [] };

/**
 * Builds a hook from files that were read before, never from the disk: what runs is what was hashed. Throws a HotcellError
 * that says what to mend.
 */
export async function buildHook(
  parts: HookBuilderParts,
  hook: { readonly place: HookPlace; readonly files: HookFiles; readonly manifest: HookManifest },
): Promise<BuiltHook> {
  const { place, files, manifest } = hook;
  if (manifest.engine !== 'shell') {
    const key = `hook:${manifest.engine}:${place.name}:${files.contentHash}`;
    return buildCode(parts, { ...hook, key, engine: manifest.engine });
  }
  const image = manifest.image ?? parts.shellImage;
  if (image === undefined) {
    throw new HotcellError('image-missing', `No image is named for ${manifest.handler}.`, {
      fix: 'Write image: NAME into HOOK.md, or name one in docker.commands.sh of the config.',
    });
  }
  if (!parts.isImageAllowed(image)) {
    throw new HotcellError('image-refused', `The image ${JSON.stringify(image)} of ${manifest.handler} is not allowed.`, {
      fix: 'Add it to docker.images in the config, or name another one in HOOK.md.',
    });
  }
  const mayDial = (manifest.permissions.net ?? []).length > 0;
  const runner = parts.runScript({ files: files.files, handler: manifest.handler, image, mayDial });
  return { runner, artifacts: noArtifacts, discard: () => {} };
}

async function buildCode(
  parts: HookBuilderParts,
  hook: Parameters<typeof buildHook>[1] & { readonly key: string; readonly engine: 'quickjs' | 'deno' },
): Promise<BuiltHook> {
  const { place, key, engine } = hook;
  const { code, artifacts } = await bundle(parts, hook);
  const limits = resolveLimits(parts.limits);
  const loaded = await parts.engines[engine].load({ key, label: place.name, code, limits });
  if (!loaded.ok) {
    const { code: errorCode, message, file, line } = explainLoadError(loaded.error, artifacts);
    throw new HotcellError(
      errorCode,
      `${file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `}${message}`,
    );
  }
  let { image } = loaded;
  const program: Program = {
    key,
    label: place.name,
    readCode: async () => code,
    readImage: async () => image,
    saveImage: (made) => {
      image = made;
    },
  };
  const discard = (): void => parts.engines[engine].discard({ programKey: key });
  return { runner: { by: 'engine', engine, program, handsOver: false }, artifacts, discard };
}

async function bundle(
  { compiler, stagingDir }: HookBuilderParts,
  { files, manifest, engine }: Parameters<typeof buildHook>[1] & { readonly engine: 'quickjs' | 'deno' },
): Promise<{ readonly code: string; readonly artifacts: TraceArtifacts }> {
  mkdirSync(stagingDir, { recursive: true, mode: 0o700 });
  const folder = realpathSync.native(mkdtempSync(join(stagingDir, 'hook-')));
  try {
    for (const { path, data } of files.files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), data, { flag: 'wx' });
    }
    writeFileSync(join(folder, entryName), writeEntry(manifest.handler), { flag: 'wx' });
    const entry = join(folder, entryName);
    const built = await compiler.compile({ entry, rootDir: folder, pluginDir: folder, isFolder: true, target: engine });
    if (!built.ok) {
      const { code, message, file, line, fix } = built.diagnostic;
      const place = file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `;
      throw new HotcellError(code, `${place}${message}`, { fix: code === 'import-refused' ? ownFolderFix : fix });
    }
    const outside = built.inputs.find(({ path }) => !path.startsWith(`${folder}/`));
    if (outside !== undefined) {
      const message = 'The handler imports a file outside its folder, which the approval of its files would not cover.';
      throw new HotcellError('import-refused', message, { fix: ownFolderFix });
    }
    return { code: built.code, artifacts: { sourceMap: built.sourceMap, sources: built.sources } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes a plugin of a handler: it gets its event with a date and a list for messages, which end in the log. */
function writeEntry(handler: string): string {
  return `import * as hook from ${JSON.stringify(`./${handler}`)};
const found = (hook as any).default;
const run = typeof found === 'function' ? found : found?.default;
if (typeof run !== 'function') throw new TypeError(${JSON.stringify(`${handler} must export a function by default.`)});
export default {
  name: 'hook',
  description: 'hook',
  handler: async (told: any, context: any) => {
    const event = { ...told, timestamp: new Date(told.timestamp), messages: [] as unknown[] };
    const answer = await run(event, context);
    for (const message of event.messages.slice(0, 100)) context.log.info(String(message));
    return answer;
  },
};
`;
}
