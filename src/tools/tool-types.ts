import type { PermissionSet } from '../config/permission-set.ts';
import type { Engine } from '../engines/engine.ts';
import type { GrantUse } from '../permissions/select-grants.ts';
import type { Generation } from '../units/generation.ts';
import type { PluginManifest, ToolManifest } from '../units/manifest.ts';

/** A published generation as the registry holds it: calls take a lease, so that a drain knows when the last one ended. */
export interface PublishedGeneration {
  /** Where its tools come from; a plugin when nobody says. */
  readonly source?: ToolEntry['source'];
  /** Runs it in place of the engine that its manifest names. */
  readonly engine?: Engine;
  readonly generation: Generation;
  readonly manifest: PluginManifest;
  /** What is granted to it now, within a call when one is given. */
  readonly granted: (use?: GrantUse) => PermissionSet;
  /** Counts a call in; the returned function counts it out. Throws `plugin-not-ready` after the drain deadline. */
  readonly lease: () => () => void;
}

/** One callable thing. */
export interface ToolEntry {
  readonly name: string;
  readonly version: string;
  readonly source: 'plugin' | 'builtin' | 'mcp' | 'skill';
  /** The name of its unit, for people; what is granted and kept belongs to the path of the generation. */
  readonly plugin: string;
  /** Its name belongs to another unit: it answers to `name@version` alone. */
  readonly isSecond?: true;
  readonly manifest: ToolManifest;
  readonly published: PublishedGeneration;
}
