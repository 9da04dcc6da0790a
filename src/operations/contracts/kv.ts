import { type Static, Type } from 'typebox';
import { defineContract } from '../operation.ts';

const plugin = Type.String({ minLength: 1, maxLength: 512 });
const owner = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'Whose values: the id of a caller, or * for those that all callers share. Only an admin may name somebody else.',
});
const key = Type.String({ minLength: 1, maxLength: 512 });
const pageQuery = {
  plugin,
  caller: Type.Optional(owner),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Entries of one page at most.' })),
  cursor: Type.Optional(Type.String({ maxLength: 4096, description: 'The next of the page before.' })),
};

/** One value as it is exported and imported. */
export const kvEntry = Type.Object(
  {
    caller: Type.Optional(owner),
    key,
    value: Type.Unknown({ description: 'Any JSON value.' }),
  },
  { additionalProperties: false },
);

/** One value as it is exported and imported. */
export type KvEntryView = Static<typeof kvEntry>;

const next = Type.Optional(Type.String({ description: 'Cursor of the next page; absent on the last.' }));

/** What can be done with the values of `context.kv`: a caller reaches its own, an admin all. */
export const kvContracts = {
  list: defineContract({
    name: 'kv.list',
    summary: 'Lists the keys that a plugin keeps, with their sizes; without caller an admin sees those of everybody.',
    role: 'caller',
    input: pageQuery,
    output: Type.Object({
      plugin: Type.String(),
      items: Type.Array(Type.Object({ caller: Type.String(), key: Type.String(), bytes: Type.Integer() })),
      next,
      owners: Type.Array(Type.Object({ caller: Type.String(), bytes: Type.Integer() })),
    }),
    http: { method: 'GET', path: '/api/plugins/:plugin/kv' },
  }),
  export: defineContract({
    name: 'kv.export',
    summary: 'Reads the values that a plugin keeps, page by page; without caller an admin gets those of everybody.',
    role: 'caller',
    input: pageQuery,
    output: Type.Object({ plugin: Type.String(), items: Type.Array(kvEntry), next }),
    http: { method: 'GET', path: '/api/plugins/:plugin/kv/export' },
  }),
  import: defineContract({
    name: 'kv.import',
    summary:
      'Writes values of a plugin, within its quota. Each goes to the caller of the request, else of the entry, else oneself.',
    role: 'caller',
    input: { plugin, caller: Type.Optional(owner), entries: Type.Array(kvEntry, { minItems: 1, maxItems: 1000 }) },
    output: Type.Object({ plugin: Type.String(), written: Type.Integer() }),
    http: { method: 'POST', path: '/api/plugins/:plugin/kv/import' },
  }),
  delete: defineContract({
    name: 'kv.delete',
    summary: 'Deletes one key of a plugin, or all that begin with a prefix; those of oneself unless an admin names a caller.',
    role: 'caller',
    input: {
      plugin,
      caller: Type.Optional(owner),
      key: Type.Optional(key),
      prefix: Type.Optional(Type.String({ maxLength: 512 })),
    },
    output: Type.Object({ plugin: Type.String(), deleted: Type.Integer() }),
    http: { method: 'DELETE', path: '/api/plugins/:plugin/kv' },
  }),
};
