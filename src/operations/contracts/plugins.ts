import { Type } from 'typebox';
import { type Diagnostic, type PluginView, pluginStates } from '../../plugins/plugin-types.ts';
import type { TextCheck } from '../../plugins/supervisor/build/check-text.ts';
import type { GenerationView, ReloadResult, TransitionRecord } from '../../plugins/supervisor-types.ts';
import { defineContract } from '../operation.ts';
import { permissionSet, schemaOf } from '../schema-of.ts';
import { listOf, pageQuery } from './paging.ts';

const pluginName = Type.String({ minLength: 1, maxLength: 512, description: 'Name, name@version, or path in its folder.' });
const named = { name: pluginName };

const diagnostic = schemaOf<Diagnostic>()(
  Type.Object({
    code: Type.String(),
    message: Type.String(),
    file: Type.Optional(Type.String()),
    line: Type.Optional(Type.Integer()),
    column: Type.Optional(Type.Integer()),
    codeFrame: Type.Optional(Type.String()),
    fix: Type.String(),
  }),
);

const permissions = schemaOf<PluginView['permissions']>()(
  Type.Object({
    source: Type.String(),
    requested: permissionSet,
    granted: permissionSet,
    pending: permissionSet,
    used: Type.Optional(Type.Array(Type.Object({ permission: Type.String(), lastUsedAtMs: Type.Number() }))),
    neverUsed: Type.Optional(Type.Array(Type.String())),
    waitingGeneration: Type.Optional(Type.Integer()),
  }),
);

const repairNote = Type.Object(
  { id: Type.Optional(Type.String()), state: Type.String(), reason: Type.String() },
  { description: 'Its last repair, or why none started.' },
);

const healthNote = Type.Object(
  { outcome: Type.String(), detail: Type.String(), atMs: Type.Number() },
  { description: 'What its last health check said.' },
);

const pluginView = schemaOf<PluginView>()(
  Type.Object({
    name: Type.String(),
    version: Type.String(),
    path: Type.String(),
    description: Type.String(),
    state: Type.String(),
    engine: Type.String(),
    shape: Type.Optional(Type.String({ description: 'whose format the file is written in, when it is not of Hotcell' })),
    climbed: Type.Optional(
      Type.Object(
        { from: Type.String(), reason: Type.String() },
        { description: 'It runs on a higher engine than the one it asks for.' },
      ),
    ),
    isolation: Type.String(),
    generation: Type.Optional(Type.Integer()),
    author: Type.Optional(Type.String({ description: 'who made that generation: operator, caller, model or repair' })),
    contentHash: Type.Optional(Type.String()),
    tools: Type.Array(Type.String()),
    prompts: Type.Optional(Type.Array(Type.String())),
    resources: Type.Optional(Type.Array(Type.String(), { description: 'Their addresses, and templates of addresses.' })),
    diagnostic: Type.Optional(diagnostic),
    warnings: Type.Array(Type.String()),
    permissions,
    repair: Type.Optional(repairNote),
    health: Type.Optional(healthNote),
    loadedAtMs: Type.Optional(Type.Number()),
    lastReloadMs: Type.Optional(Type.Number()),
  }),
);

const reloadResult = schemaOf<ReloadResult>()(
  Type.Object({
    name: Type.String(),
    ok: Type.Boolean(),
    changed: Type.Boolean(),
    state: Type.String(),
    generation: Type.Optional(Type.Integer()),
    durationMs: Type.Number(),
    diagnostic: Type.Optional(diagnostic),
  }),
);

const textCheck = schemaOf<TextCheck>()(
  Type.Object({
    name: Type.String(),
    ok: Type.Boolean(),
    changed: Type.Boolean({ description: 'It is other content than what serves now.' }),
    diagnostic: Type.Optional(diagnostic),
    version: Type.Optional(Type.String()),
    engine: Type.Optional(Type.String()),
    tools: Type.Optional(Type.Array(Type.String())),
    permissions: Type.Optional(Type.Object({ requested: permissionSet, pending: permissionSet })),
    warnings: Type.Optional(Type.Array(Type.String())),
  }),
);

const generationView = schemaOf<GenerationView>()(
  Type.Object({
    number: Type.Integer(),
    id: Type.String(),
    author: Type.String(),
    version: Type.String(),
    contentHash: Type.String(),
    createdAtMs: Type.Number(),
    current: Type.Boolean(),
  }),
);

const transition = schemaOf<TransitionRecord>()(
  Type.Object({
    atMs: Type.Number(),
    from: Type.String(),
    to: Type.String(),
    reason: Type.String(),
    generation: Type.Optional(Type.Integer()),
  }),
);

/** What can be done with plugins. */
export const pluginContracts = {
  list: defineContract({
    name: 'plugins.list',
    summary: 'Lists the plugins with their states.',
    role: 'admin',
    input: { state: Type.Optional(Type.Enum([...pluginStates])), ...pageQuery },
    output: Type.Object({
      ...listOf(pluginView).properties,
      passedOver: Type.Optional(
        Type.Array(Type.Object({ path: Type.String(), reason: Type.String() }), {
          description: 'What looks like a plugin in the plugin folders and is none.',
        }),
      ),
    }),
    http: { method: 'GET', path: '/api/plugins' },
  }),
  get: defineContract({
    name: 'plugins.get',
    summary: 'Shows one plugin.',
    role: 'admin',
    input: named,
    output: pluginView,
    http: { method: 'GET', path: '/api/plugins/:name' },
  }),
  reload: defineContract({
    name: 'plugins.reload',
    summary: 'Reloads one plugin and answers the truth about it: a failed reload is the error reload-failed.',
    role: 'admin',
    input: named,
    output: reloadResult,
    http: { method: 'POST', path: '/api/plugins/:name/reload' },
  }),
  reloadAll: defineContract({
    name: 'plugins.reloadAll',
    summary: 'Reloads all plugins; one result each.',
    role: 'admin',
    input: {},
    output: Type.Object({ items: Type.Array(reloadResult), total: Type.Integer(), failed: Type.Integer() }),
    http: { method: 'POST', path: '/api/plugins/reload' },
  }),
  update: defineContract({
    name: 'plugins.update',
    summary: 'Enables or disables one plugin; it stays so over restarts.',
    role: 'admin',
    input: { name: pluginName, enabled: Type.Boolean() },
    output: pluginView,
    http: { method: 'PATCH', path: '/api/plugins/:name' },
  }),
  source: defineContract({
    name: 'plugins.source',
    summary: 'Reads the entry file of a plugin; over HTTP as text with its SHA-256 as ETag.',
    role: 'admin',
    input: named,
    output: Type.Object({ file: Type.String(), text: Type.String(), sha256: Type.String() }),
    http: { method: 'GET', path: '/api/plugins/:name/source', textResult: 'text', etag: 'sha256' },
  }),
  writeSource: defineContract({
    name: 'plugins.writeSource',
    summary: 'Replaces the entry file of a plugin and reloads it. If-Match (the SHA-256 that was read) guards later edits.',
    role: 'admin',
    input: {
      name: pluginName,
      text: Type.String({ description: 'The new text of the file.' }),
      expectedHash: Type.Optional(
        Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the text that is replaced.' }),
      ),
    },
    output: reloadResult,
    http: { method: 'PUT', path: '/api/plugins/:name/source', textBody: 'text', ifMatch: 'expectedHash' },
  }),
  check: defineContract({
    name: 'plugins.check',
    summary: 'Builds a text as the entry of a plugin, or as a new file, and says what would come of it; nothing is written.',
    role: 'admin',
    input: { name: pluginName, text: Type.String({ description: 'The text of the file.' }) },
    output: textCheck,
    http: { method: 'POST', path: '/api/plugins/:name/check', textBody: 'text' },
  }),
  generations: defineContract({
    name: 'plugins.generations',
    summary: 'Lists the kept generations of one plugin, newest first.',
    role: 'admin',
    input: named,
    output: listOf(generationView),
    http: { method: 'GET', path: '/api/plugins/:name/generations' },
  }),
  rollback: defineContract({
    name: 'plugins.rollback',
    summary: 'Makes an older generation current until the file changes next; the one before when no number is given.',
    role: 'admin',
    input: { name: pluginName, generation: Type.Optional(Type.Integer({ minimum: 1 })) },
    output: reloadResult,
    http: { method: 'POST', path: '/api/plugins/:name/rollback' },
  }),
  why: defineContract({
    name: 'plugins.why',
    summary: 'Tells the last transitions of one plugin with their reasons, newest last.',
    role: 'admin',
    input: named,
    output: Type.Object({
      name: Type.String(),
      state: Type.String(),
      diagnostic: Type.Optional(diagnostic),
      permissions,
      repair: Type.Optional(repairNote),
      health: Type.Optional(healthNote),
      items: Type.Array(transition),
      total: Type.Integer(),
    }),
    http: { method: 'GET', path: '/api/plugins/:name/why' },
  }),
  remove: defineContract({
    name: 'plugins.remove',
    summary: 'Deletes the file or folder of one plugin.',
    role: 'admin',
    input: named,
    output: Type.Object({ name: Type.String(), removed: Type.Boolean() }),
    http: { method: 'DELETE', path: '/api/plugins/:name' },
  }),
};
