import { resolve } from 'node:path';
import type { OnLoadResult, OnResolveArgs, OnResolveResult, Plugin } from 'esbuild';
import type { PathPolicy } from './path-policy.ts';
import { nativeAddon } from './specifiers.ts';

/** Where an image has packages: Node finds them from everywhere. */
const imageFolder = '/node_modules';
const asked = Symbol('asked');

/**
 * For plugins that run in a container: a package that is not installed beside the plugin is left to the image, where Node looks
 * for it when the plugin is loaded. It stands behind the guard, which has refused what may not be imported at all.
 */
export function createImagePackagesPlugin(): Plugin {
  return {
    name: 'image-packages',
    setup(build) {
      build.onResolve({ filter: /^[@\w]/ }, async ({ path, pluginData, ...from }) => {
        if (pluginData === asked || from.kind === 'entry-point') return undefined;
        const { kind, importer, namespace, resolveDir } = from;
        const found = await build.resolve(path, { kind, importer, namespace, resolveDir, pluginData: asked });
        if (found.errors.length > 0) return { path, external: true };
        const { external, sideEffects, suffix } = found;
        return { path: found.path, namespace: found.namespace, external, sideEffects, suffix };
      });
    },
  };
}

/** A native add-on of a package, which must lie at the same place in the image; one of the plugin's own is refused. */
export function resolveImageAddon(args: OnResolveArgs, policy: PathPolicy): OnResolveResult {
  if (!args.path.startsWith('.')) return { path: args.path, external: true };
  const file = resolve(args.resolveDir, args.path);
  const isPackaged = policy.mayLeadInside(file) && placeInImage(file) !== undefined;
  return isPackaged ? { path: file, namespace: 'file' } : { errors: [nativeAddon(args.path).toMessage()] };
}

/** The code that takes an add-on from the image; undefined for a file that belongs to no package. */
export function loadImageAddon(file: string): OnLoadResult | undefined {
  const place = placeInImage(file);
  return place === undefined
    ? undefined
    : { contents: `module.exports = globalThis.require(${JSON.stringify(place)});\n`, loader: 'js' };
}

function placeInImage(file: string): string | undefined {
  const below = /[/\\]node_modules[/\\](?!.*[/\\]node_modules[/\\])(.+)$/.exec(file)?.[1];
  return below === undefined ? undefined : `${imageFolder}/${below.replaceAll('\\', '/')}`;
}
