import type { WantedNames } from '../../permissions/name-book.ts';
import type { PluginManifest } from '../generations/generation.ts';

/** The names that a plugin wants for itself and its tools. */
export function wantedNames({ name, version, tools }: PluginManifest): WantedNames {
  return { name, version, tools: tools.map((tool) => tool.name) };
}

/** The tools of a manifest as `name@version`. */
export function listToolKeys(manifest: PluginManifest): string[] {
  return manifest.tools.map((tool) => `${tool.name}@${manifest.version}`);
}
