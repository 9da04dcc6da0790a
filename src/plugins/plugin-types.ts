import { type Static, Type } from 'typebox';
import type { Readable } from '../config/json-object.ts';
import type { PermissionSet } from '../config/permission-set.ts';
import type { EngineName } from '../engines/engine.ts';
import type { ErrorCode } from '../errors/catalog.ts';
import type { Author } from '../units/unit.ts';

/** Permissions, as a plugin writes them; which there are says docs/permissions.md. */
export const permissionSet = Type.Unsafe<PermissionSet>(Type.Object({}));

/** Every state of a plugin. */
export const pluginStates = [
  'absent',
  'loading',
  'ready',
  'pending-grant',
  'degraded',
  'failed',
  'disabled',
  'quarantined',
] as const;

/** Where a plugin stands. Transitions are one pure function in lifecycle.ts. */
export type PluginState = (typeof pluginStates)[number];

const pluginState = Type.Unsafe<PluginState>(Type.String());
const author = Type.Unsafe<Author>(Type.String({ description: 'who made that generation: operator, caller, model or repair' }));

/** Why a build failed, with the place in the user's own file. `file` is relative to the plugin's root folder. */
export const diagnostic = Type.Object({
  code: Type.Unsafe<ErrorCode>(Type.String()),
  message: Type.String(),
  file: Type.Optional(Type.String()),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
  codeFrame: Type.Optional(Type.String()),
  fix: Type.String(),
});

/** Why a build failed. */
export type Diagnostic = Readable<Static<typeof diagnostic>>;

/** What a plugin asks for and has; the last uses of the last 30 days are shown for one plugin, not in lists. */
export const permissionsView = Type.Object({
  source: Type.Unsafe<'declared' | 'inferred'>(Type.String()),
  requested: permissionSet,
  granted: permissionSet,
  pending: permissionSet,
  used: Type.Optional(Type.Array(Type.Object({ permission: Type.String(), lastUsedAtMs: Type.Number() }))),
  // As far as uses are noted.
  neverUsed: Type.Optional(Type.Array(Type.String())),
  // A newer generation that waits for what is pending, while an older one serves.
  waitingGeneration: Type.Optional(Type.Integer()),
});

/** Told by the operations, not by the supervisor. */
export const repairNote = Type.Object(
  { id: Type.Optional(Type.String()), state: Type.String(), reason: Type.String() },
  { description: 'Its last repair, or why none started.' },
);

/** What its last health check said. */
export const healthNote = Type.Object(
  { outcome: Type.String(), detail: Type.String(), atMs: Type.Number() },
  { description: 'What its last health check said.' },
);

/** A plugin as every door shows it. */
export const pluginView = Type.Object({
  name: Type.String(),
  version: Type.String(),
  path: Type.String(),
  description: Type.String(),
  state: pluginState,
  engine: Type.String(),
  shape: Type.Optional(Type.String({ description: 'whose format the file is written in, when it is not of Hotcell' })),
  climbed: Type.Optional(
    Type.Object(
      { from: Type.Unsafe<EngineName>(Type.String()), reason: Type.String() },
      { description: 'It runs on a higher engine than the one it asks for.' },
    ),
  ),
  isolation: Type.String(),
  // Of the current generation; absent when nothing serves.
  generation: Type.Optional(Type.Integer()),
  author: Type.Optional(author),
  contentHash: Type.Optional(Type.String()),
  tools: Type.Array(Type.String()),
  prompts: Type.Optional(Type.Array(Type.String())),
  resources: Type.Optional(Type.Array(Type.String(), { description: 'Their addresses, and templates of addresses.' })),
  diagnostic: Type.Optional(diagnostic),
  warnings: Type.Array(Type.String()),
  permissions: permissionsView,
  repair: Type.Optional(repairNote),
  health: Type.Optional(healthNote),
  loadedAtMs: Type.Optional(Type.Number()),
  lastReloadMs: Type.Optional(Type.Number()),
});

/** A plugin as every door shows it. */
export type PluginView = Readable<Static<typeof pluginView>>;
