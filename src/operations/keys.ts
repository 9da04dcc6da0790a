import type { KeyRow } from '../store/store-types.ts';
import { keyContracts } from './contracts/keys.ts';
import { implement, type Operation } from './operation.ts';
import type { OperationParts } from './parts.ts';

/** What can be done with API keys. */
export function createKeyOperations({ keys }: OperationParts): Operation[] {
  return [
    // Least rights when nobody says otherwise.
    implement(keyContracts.create, ({ name = 'unnamed', role = 'caller' }) => {
      const { row, key } = keys.create({ name, role });
      return { id: row.id, name: row.name, role: row.role, key, createdAtMs: row.createdAtMs };
    }),
    implement(keyContracts.list, () => {
      const items = keys.list().map(describeKey);
      return { items, total: items.length };
    }),
    implement(keyContracts.revoke, ({ id }) => ({ id, revoked: keys.revoke(id) })),
  ];
}

function describeKey(row: KeyRow) {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    createdAtMs: row.createdAtMs,
    ...(row.lastUsedAtMs === null ? {} : { lastUsedAtMs: row.lastUsedAtMs }),
    ...(row.revokedAtMs === null ? {} : { revokedAtMs: row.revokedAtMs }),
  };
}
