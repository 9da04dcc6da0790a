import { dirname, join, relative, sep } from 'node:path';
import { isInside } from '../../file-system/paths.ts';

/** Where a readable file belongs: to the plugin and what plugins share, or to an installed package. */
export type FileOwner = 'plugin' | 'package';

/** What a plugin may read. All are real paths. */
export interface PluginFolders {
  /** The entry: all that a plugin of a single file owns. */
  readonly entry: string;
  /** The plugin's own folder, when it has one. */
  readonly ownDir: string | undefined;
  /** The folder in which plugins lie. What begins with an underscore there is shared by all of them, the rest is others'. */
  readonly rootDir: string;
  /** Folders that the operator declared as shared. */
  readonly sharedDirs: readonly string[];
  /** Packages are taken from here and from its ancestors. */
  readonly pluginDir: string;
}

/** Decides by real path whether a build may read a file. */
export type PathPolicy = ReturnType<typeof createPathPolicy>;

/** Makes the policy of one plugin. */
export function createPathPolicy({ entry, ownDir, rootDir, sharedDirs, pluginDir }: PluginFolders) {
  const packageDirs = ancestorsOf(pluginDir).map((folder) => join(folder, 'node_modules'));
  const wholeDirs = [...(ownDir === undefined ? [] : [ownDir]), ...sharedDirs];
  const isShared = (path: string): boolean => isInside(rootDir, path) && relative(rootDir, path).startsWith('_');
  return {
    /** The `node_modules` folders that packages may come from, nearest first. */
    packageDirs,
    /** The owner of a file, or undefined when the build may not read it. `path` is absolute. */
    ownerOf(path: string): FileOwner | undefined {
      if (packageDirs.some((folder) => isInside(folder, path))) return 'package';
      if (path === entry || (isShared(path) && !hasHiddenSegment(relative(rootDir, path)))) return 'plugin';
      return wholeDirs.some((folder) => isVisibleInside(folder, path)) ? 'plugin' : undefined;
    },
    /** Whether a path that is not resolved yet may lead to a readable file; refuses without touching the disk. */
    mayLeadInside(path: string): boolean {
      return path === entry || isShared(path) || [...wholeDirs, ...packageDirs].some((folder) => isInside(folder, path));
    },
  };
}

/** Whether `path` lies below `folder` and in no hidden folder there. */
export function isVisibleInside(folder: string, path: string): boolean {
  return isInside(folder, path) && !hasHiddenSegment(relative(folder, path));
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
