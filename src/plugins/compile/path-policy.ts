import { dirname, isAbsolute, join, relative, sep } from 'node:path';

/** Where a readable file belongs: to the plugin and its shared folders, or to an installed package. */
export type FileOwner = 'plugin' | 'package';

/** Decides by real path whether a build may read a file. */
export interface PathPolicy {
  /** The owner of a file, or undefined when the build may not read it. `path` is absolute. */
  ownerOf(path: string): FileOwner | undefined;
  /** Whether a path that is not resolved yet may lead to a readable file; refuses without touching the disk. */
  mayLeadInside(path: string): boolean;
}

/** Folders are real paths; `roots` are plugin and shared folders. Packages are those of `pluginDir` and its ancestors. */
export function createPathPolicy(folders: { roots: readonly string[]; pluginDir: string }): PathPolicy {
  const packageDirs = ancestorsOf(folders.pluginDir).map((folder) => join(folder, 'node_modules'));
  return {
    ownerOf(path) {
      const inPackage = packageDirs.some((folder) => isInside(folder, path));
      if (inPackage) return 'package';
      return folders.roots.some((root) => isInside(root, path) && !hasHiddenSegment(relative(root, path))) ? 'plugin' : undefined;
    },
    mayLeadInside(path) {
      return [...folders.roots, ...packageDirs].some((folder) => isInside(folder, path));
    },
  };
}

/** Whether `path` lies below `folder`, compared by segments. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

// Secrets live in dot folders (.git, .env, .ssh, .hotcell); packages keep real files in node_modules/.pnpm.
function hasHiddenSegment(way: string): boolean {
  const segments = way.split(sep);
  const packageStart = segments.indexOf('node_modules');
  const own = packageStart === -1 ? segments : segments.slice(0, packageStart);
  return own.some((segment) => segment.startsWith('.'));
}

function ancestorsOf(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestorsOf(parent)];
}
