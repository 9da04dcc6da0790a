import type { limitTable } from '../../config/limits.ts';
import type { PluginManifest } from '../generations/generation.ts';
import type { Diagnostic } from '../plugin-types.ts';
import type { SchemaReadResult } from '../schema/schema-types.ts';

/** The limits that a manifest may choose from. */
export type LimitTable = Readonly<Record<keyof typeof limitTable, { readonly max: number }>>;

/** What a manifest is read from. */
export interface ManifestInput {
  /**
   * What the module exports, as bounded JSON: `{ default, named }`. Functions are `{ "$function": true }`; schema objects
   * are their JSON Schema, or `{ "$standardSchema": true }` when they have none.
   */
  readonly exported: unknown;
  /** Name of the plugin's file or folder; the plugin is called so when it says no name. */
  readonly fileName: string;
  /** What was read off the source; absent for plugins without one. */
  readonly inferred?: SchemaReadResult;
  /** Upper bounds of limits; those of the daemon when absent. */
  readonly limitTable?: LimitTable;
}

/** The checked manifest, or why it is none. */
export type ManifestResult =
  | { readonly ok: true; readonly manifest: PluginManifest }
  | { readonly ok: false; readonly diagnostic: Diagnostic };
