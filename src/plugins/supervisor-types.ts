import { type Static, Type } from 'typebox';
import type { Readable } from '../config/json-object.ts';
import type { Asking } from '../permissions/grant-registry.ts';
import type { Author } from '../units/unit.ts';
import type { ProposedTexts } from './compile/read-input.ts';
import type { PassedOver } from './discovery/passed-over.ts';
import type { PluginSource } from './discovery/plugin-source.ts';
import type { Generation } from './generations/generation.ts';
import { diagnostic, type PluginView, permissionSet } from './plugin-types.ts';
import type { UnsavedBuild } from './supervisor/build/unsaved-build.ts';

/** The truth about one explicit reload. */
export const reloadResult = Type.Object({
  name: Type.String(),
  ok: Type.Boolean(),
  // False when the content was already live.
  changed: Type.Boolean(),
  state: Type.String(),
  generation: Type.Optional(Type.Integer()),
  durationMs: Type.Number(),
  diagnostic: Type.Optional(diagnostic),
});

/** The truth about one explicit reload. */
export type ReloadResult = Readable<Static<typeof reloadResult>>;

/** What would come of a text, were it saved. */
export const textCheck = Type.Object({
  name: Type.String(),
  ok: Type.Boolean(),
  changed: Type.Boolean({ description: 'It is other content than what serves now.' }),
  diagnostic: Type.Optional(diagnostic),
  version: Type.Optional(Type.String()),
  engine: Type.Optional(Type.String()),
  tools: Type.Optional(Type.Array(Type.String())),
  permissions: Type.Optional(Type.Object({ requested: permissionSet, pending: permissionSet })),
  warnings: Type.Optional(Type.Array(Type.String())),
});

/** What would come of a text, were it saved. */
export type TextCheck = Readable<Static<typeof textCheck>>;

/** One lifecycle transition with its reason, newest last. */
export const transitionRecord = Type.Object({
  atMs: Type.Number(),
  from: Type.String(),
  to: Type.String(),
  reason: Type.String(),
  generation: Type.Optional(Type.Integer()),
});

/** One lifecycle transition with its reason. */
export type TransitionRecord = Readable<Static<typeof transitionRecord>>;

/** One kept generation, newest first in lists. */
export const generationView = Type.Object({
  number: Type.Integer(),
  id: Type.String(),
  author: Type.Unsafe<Author>(Type.String()),
  version: Type.String(),
  contentHash: Type.String(),
  createdAtMs: Type.Number(),
  current: Type.Boolean(),
});

/** One kept generation. */
export type GenerationView = Readable<Static<typeof generationView>>;

/** Watches the plugin folders and keeps the right generation of every plugin current. */
export interface PluginSupervisor {
  /** Scans and loads everything; resolves when every plugin has a state. */
  start(): Promise<void>;
  list(): PluginView[];
  /** What looks like a plugin in the plugin folders and is none. */
  passedOver(): PassedOver[];
  /** By name, `name@version` or path relative to a plugin folder; throws `plugin-unknown` with near names. */
  get(name: string): PluginView;
  /** The path on the disk of a plugin by name or path: its identity. Throws `plugin-unknown`, `name-ambiguous`. */
  pathOf(name: string): string;
  /** The build whose permissions people decide on, with why it wants another engine; undefined when there is none. */
  asking(name: string): (Asking & { readonly reason?: string }) | undefined;
  why(name: string): TransitionRecord[];
  reload(name: string): Promise<ReloadResult>;
  /** Reloads all plugins; a result a plugin. */
  reloadAll(): Promise<ReloadResult[]>;
  setEnabled(name: string, enabled: boolean): Promise<PluginView>;
  readSource(name: string): Promise<{ file: string; text: string }>;
  /**
   * Writes the entry file atomically and reloads; the build is the work of the caller `by`. `expectedHash` (sha256 of the text
   * being replaced) guards a person's edit: `conflict`.
   */
  writeSource(
    name: string,
    text: string,
    options: { readonly by: string; readonly expectedHash?: string | undefined },
  ): Promise<ReloadResult>;
  /**
   * Says what would come of a text as the entry of a plugin, or as a new file when `name` is that of none; nothing is published
   * or written.
   */
  check(name: string, text: string, signal?: AbortSignal): Promise<TextCheck>;
  /** Builds a text as the entry of a plugin for whoever tries it out; nothing is published or written. */
  propose(name: string, text: string, signal: AbortSignal): Promise<UnsavedBuild>;
  /** Builds texts as files of a plugin, the same way. */
  proposeFiles(source: PluginSource, texts: ProposedTexts, signal: AbortSignal): Promise<UnsavedBuild>;
  /** Deletes the plugin's file or folder. */
  remove(name: string): Promise<void>;
  generations(name: string): GenerationView[];
  /** Makes an older kept generation current (the one before when no number is given) until the file changes next. */
  rollback(name: string, number?: number): Promise<ReloadResult>;
  /** The generation behind an execution or a published tool, for diagnostics. */
  findGeneration(id: string): Generation | undefined;
  close(): Promise<void>;
}
