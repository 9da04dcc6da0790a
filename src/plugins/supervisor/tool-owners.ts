import type { PluginManifest } from '../manifest-types.ts';

/** Which plugin has which `name@version`. The plugin whose path comes first has the better claim. */
export interface ToolOwners {
  /** The tool that keeps a plugin from being published, and the plugin that has it. */
  findBlocker(pluginPath: string, manifest: PluginManifest): { readonly tool: string; readonly owner: string } | undefined;
  /** Takes the tools for a plugin; returns the plugins that must yield to it. */
  claim(pluginPath: string, manifest: PluginManifest): string[];
  release(pluginPath: string): void;
}

/** Creates an empty table of owners. */
export function createToolOwners(): ToolOwners {
  const ownerByKey = new Map<string, string>();
  const keysByOwner = new Map<string, readonly string[]>();

  function release(pluginPath: string): void {
    for (const key of keysByOwner.get(pluginPath) ?? []) ownerByKey.delete(key);
    keysByOwner.delete(pluginPath);
  }

  return {
    findBlocker(pluginPath, manifest) {
      const seen = new Set<string>();
      for (const tool of toolKeys(manifest)) {
        const owner = ownerByKey.get(tool);
        if (owner !== undefined && owner < pluginPath) return { tool, owner };
        if (seen.has(tool)) return { tool, owner: pluginPath };
        seen.add(tool);
      }
      return undefined;
    },
    claim(pluginPath, manifest) {
      const keys = toolKeys(manifest);
      const displaced = new Set(keys.flatMap((key) => ownerByKey.get(key) ?? []));
      displaced.delete(pluginPath);
      for (const other of displaced) release(other);
      release(pluginPath);
      for (const key of keys) ownerByKey.set(key, pluginPath);
      keysByOwner.set(pluginPath, keys);
      return [...displaced];
    },
    release,
  };
}

/** The tools of a manifest as `name@version`. */
export function toolKeys(manifest: PluginManifest): string[] {
  return manifest.tools.map((tool) => `${tool.name}@${manifest.version}`);
}
