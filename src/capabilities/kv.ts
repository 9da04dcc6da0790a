import Type from 'typebox';
import type { BorderRequest } from '../border/border.ts';
import type { Capability, CapabilityResult, CarryOut } from '../border/capability.ts';
import type { CapabilityUser } from '../border/capability-user.ts';
import type { Config } from '../config/config-types.ts';
import type { PermissionSet } from '../config/permission-set.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Store } from '../store/store-types.ts';
import { createPayloadReader } from './payload.ts';
import { createDenial } from './permission-denial.ts';

interface Parts {
  readonly table: Pick<Store['kv'], 'get' | 'set' | 'delete' | 'list'>;
  readonly limits: Config['kv'];
}

/** Whose values one call sees: its caller's, or everybody's under a grant that says `shared`. */
interface Scope {
  /** The path of the unit. */
  readonly plugin: string;
  readonly owner: string;
  readonly quotaBytes: number;
}

type Answer = (request: BorderRequest, scope: Scope, parts: Parts) => CapabilityResult;

const maxListed = 1000;
const maxListedChars = 4 * 1024 * 1024;
/** A key, escaped as JSON, with the names and brackets around key and value. */
const maxKeyChars = 512 * 6 + 64;
const key = Type.String({ minLength: 1, maxLength: 512 });
const readKey = createPayloadReader(Type.Object({ key }, { additionalProperties: false }));
const readEntry = createPayloadReader(Type.Object({ key, value: Type.Unknown() }, { additionalProperties: false }));
const readListing = createPayloadReader(
  Type.Object(
    {
      prefix: Type.Optional(Type.String({ maxLength: 512 })),
      after: Type.Optional(Type.String({ maxLength: 512 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxListed })),
    },
    { additionalProperties: false },
  ),
);

/**
 * `context.kv`: JSON values by key. `kv.get {key}` answers the value or null, `kv.set {key, value}` null, `kv.delete
 * {key}` whether there was one, `kv.list {prefix?, after?, limit?}` `{items: [{key, value}], next?}`.
 */
export function createKv(parts: Parts): Capability {
  const carryOut =
    (answer: Answer): CarryOut =>
    async (request, user) =>
      answer(request, openScope(user, parts.limits), parts);
  return {
    operations: {
      'kv.get': carryOut(getValue),
      'kv.set': carryOut(setValue),
      'kv.delete': carryOut(deleteValue),
      'kv.list': carryOut(listValues),
    },
    reads: ['kv.get', 'kv.list'],
  };
}

function openScope(user: CapabilityUser, limits: Config['kv']): Scope {
  const { kv } = user.granted();
  if (kv === undefined) throw createDenial(user, { key: 'kv', tried: 'use context.kv' });
  const { quotaBytes, shared }: Exclude<PermissionSet['kv'], true | undefined> = kv === true ? {} : kv;
  const owner = shared ? '*' : user.caller;
  user.noteUse('kv', shared ? 'shared' : 'own', true);
  return { plugin: user.unitPath, owner, quotaBytes: quotaBytes ?? limits.quotaBytes };
}

function getValue(request: BorderRequest, { plugin, owner }: Scope, { table }: Parts): CapabilityResult {
  const text = table.get(plugin, owner, readKey(request).key);
  return { payload: text === undefined ? null : JSON.parse(text) };
}

function setValue(request: BorderRequest, { plugin, owner, quotaBytes }: Scope, { table, limits }: Parts): CapabilityResult {
  // Parsing megabytes only to refuse them would hold up everybody.
  if (request.payload.length > limits.maxValueBytes + maxKeyChars) throw refuseSize(limits, request.payload.length);
  const entry = readEntry(request);
  const text = JSON.stringify(entry.value);
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.maxValueBytes) throw refuseSize(limits, bytes);
  if (!table.set(plugin, owner, entry.key, text, quotaBytes)) {
    throw new HotcellError('quota-exceeded', `context.kv may hold ${quotaBytes} bytes here; this value does not fit.`, {
      fix: 'Delete keys that are not needed, or grant a larger kv.quotaBytes.',
    });
  }
  return { payload: null };
}

function refuseSize({ maxValueBytes }: Parts['limits'], bytes: number): HotcellError {
  return new HotcellError(
    'payload-too-large',
    `A value of context.kv may have at most ${maxValueBytes} bytes as JSON; got ${bytes}.`,
  );
}

function deleteValue(request: BorderRequest, { plugin, owner }: Scope, { table }: Parts): CapabilityResult {
  return { payload: table.delete(plugin, owner, readKey(request).key) };
}

/** A page ends at its limit or at a size that is comfortable for a cell; `next` is there when more may follow. */
function listValues(request: BorderRequest, { plugin, owner }: Scope, { table }: Parts): CapabilityResult {
  const { prefix = '', after, limit = 100 } = readListing(request);
  const rows = table.list(plugin, owner, { prefix, limit, ...(after === undefined ? {} : { after }) });
  const items: { key: string; value: unknown }[] = [];
  let chars = 0;
  for (const row of rows) {
    chars += row.key.length + row.value.length;
    if (items.length > 0 && chars > maxListedChars) break;
    items.push({ key: row.key, value: JSON.parse(row.value) });
  }
  const last = items.at(-1);
  const isLastPage = items.length === rows.length && rows.length < limit;
  return { payload: { items, ...(isLastPage || last === undefined ? {} : { next: last.key }) } };
}
