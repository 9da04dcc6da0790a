import { dirname, extname } from 'node:path';
import type { OnLoadResult, Plugin } from 'esbuild';
import type { PathPolicy } from './path-policy.ts';

/** Name space of the plugin's own CommonJS files; their paths in source maps begin with it. */
export const commonJsNamespace = 'commonjs';

/** Whether a text is CommonJS rather than an ES module, as far as its first words on each line tell. */
export function looksLikeCommonJs(path: string, text: string): boolean {
  if (!/^\.[jt]sx?$/.test(extname(path))) return false;
  return (
    /\bmodule\.exports\b|\bexports\.[A-Za-z_$]|\bexports\[/.test(text) && !/^[ \t]*(?:import\b(?!\s*[(.])|export\b)/m.test(text)
  );
}

/** What the CommonJS plugin of one build works with. */
export interface CommonJsOptions {
  readonly policy: PathPolicy;
  readonly showPath: (path: string) => string;
  /** Loads a file through the guard. */
  readonly load: (path: string) => OnLoadResult;
}

/**
 * Keeps CommonJS files of a plugin CommonJS below a package.json with "type": "module", where the bundler would take
 * every `.js` for an ES module. Only for builds with a CommonJS entry: it costs a round trip for each relative import.
 */
export function createCommonJsPlugin(options: CommonJsOptions): Plugin {
  return {
    name: 'commonjs',
    setup(build) {
      build.onResolve({ filter: /^\.\.?\// }, async (args) => {
        if (args.kind !== 'require-call' || args.pluginData === asked) return undefined;
        const { importer, resolveDir, kind } = args;
        const found = await build.resolve(args.path, { importer, resolveDir, kind, pluginData: asked });
        if (found.errors.length > 0 || found.namespace !== 'file') return undefined;
        const loaded = options.policy.ownerOf(found.path) === 'plugin' ? options.load(found.path) : undefined;
        const text = typeof loaded?.contents === 'string' ? loaded.contents : '';
        if (!looksLikeCommonJs(found.path, text)) return undefined;
        const pluginData: CommonJsFile = { path: found.path };
        return { path: options.showPath(found.path), namespace: commonJsNamespace, pluginData };
      });
      build.onLoad({ filter: /.*/, namespace: commonJsNamespace }, ({ pluginData }) => {
        if (!isCommonJsFile(pluginData)) return undefined;
        return { ...options.load(pluginData.path), resolveDir: dirname(pluginData.path) };
      });
    },
  };
}

interface CommonJsFile {
  readonly path: string;
}

// Marks the plugin's own question, which must not be asked again.
const asked = Symbol('asked');

function isCommonJsFile(value: unknown): value is CommonJsFile {
  return typeof value === 'object' && value !== null && 'path' in value && typeof value.path === 'string';
}
