import { Type } from 'typebox';
import { diagnostic, healthNote, permissionsView, pluginStates, pluginView, repairNote } from '../../plugins/plugin-types.ts';
import { generationView, reloadResult, textCheck, transitionRecord } from '../../plugins/supervisor-types.ts';
import { defineContract } from '../operation.ts';
import { listOf, pageQuery } from './paging.ts';

const pluginName = Type.String({ minLength: 1, maxLength: 512, description: 'Name, name@version, or path in its folder.' });
const named = { name: pluginName };

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
      permissions: permissionsView,
      repair: Type.Optional(repairNote),
      health: Type.Optional(healthNote),
      items: Type.Array(transitionRecord),
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
