import type { KeyRow } from '../store/store-types.ts';
import { keyContracts } from './contracts/keys.ts';
import { readRules } from './key-rules.ts';
import { implement, type Operation } from './operation.ts';
import type { OperationParts } from './parts.ts';

/** What can be done with API keys. */
export function createKeyOperations({ keys }: Pick<OperationParts, 'keys'>): Operation[] {
  return [
    // Least rights when nobody says otherwise.
    implement(keyContracts.create, ({ name = 'unnamed', role = 'caller', ...rules }) => {
      const { row, key, rules: kept } = keys.create({ name, role, rules });
      return {
        id: row.id,
        name: row.name,
        role: row.role,
        rules: kept,
        key,
        createdAtMs: row.createdAtMs,
      };
    }),
    implement(keyContracts.list, () => {
      const items = keys.list().map(describeKey);
      return { items, total: items.length };
    }),
    implement(keyContracts.update, ({ id, ...change }) => describeKey(keys.update(id, change))),
    implement(keyContracts.revoke, ({ id }) => ({ id, revoked: keys.revoke(id) })),
  ];
}

function describeKey(row: KeyRow) {
  const rules = readRules(row.rulesJson);
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    rules,
    createdAtMs: row.createdAtMs,
    ...(row.lastUsedAtMs === null ? {} : { lastUsedAtMs: row.lastUsedAtMs }),
    ...(row.revokedAtMs === null ? {} : { revokedAtMs: row.revokedAtMs }),
  };
}
