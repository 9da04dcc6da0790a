import type { Caller, CallerRules } from '../../../callers/caller.ts';
import { type RulesChange, readRules } from '../../../callers/key-rules.ts';
import { omitUndefined } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { findNearNames } from '../../../errors/near-names.ts';
import { isAnothers, readToolOwners } from '../../../names/tool-owners.ts';
import { operatorId } from '../../../permissions/approvals/approval-answerer.ts';
import type { KeyRow } from '../../../store/tables/access/keys.ts';
import { keyContracts } from '../../contracts/access/keys.ts';
import { pageOfAll } from '../../contracts/paging.ts';
import { implement, type Operation } from '../../operation.ts';
import type { OperationParts } from '../../operation-parts.ts';

type KeyParts = Pick<OperationParts, 'keys' | 'names' | 'tools'>;

/** What can be done with API keys. */
export function createKeyOperations({ keys, names, tools }: KeyParts): Operation[] {
  return [
    // Least rights when nobody says otherwise.
    implement(keyContracts.create, ({ name = 'unnamed', role = 'caller', ...rules }, { caller }) => {
      requireOperator(caller, rules);
      const { row, key, rules: kept } = keys.create({ name, role, rules, madeBy: caller.id });
      const { id, createdAtMs } = row;
      return { id, name: row.name, role: row.role, rules: kept, key, createdAtMs, ...findMissing(kept, { names, tools }) };
    }),
    implement(keyContracts.list, () => pageOfAll(keys.list().map((row) => describeKey(row, { names, tools })))),
    implement(keyContracts.update, ({ id, ...change }, { caller }) => {
      requireOperator(caller, change);
      return describeKey(keys.update(id, change), { names, tools });
    }),
    implement(keyContracts.revoke, ({ id }) => ({ id, revoked: keys.revoke(id) })),
  ];
}

/** Else a key would make itself one that answers for it, or that has scripts run. */
function requireOperator({ id }: Caller, { mayAnswer, code }: RulesChange): void {
  if (id === operatorId || (mayAnswer !== true && code !== true)) return;
  const what = mayAnswer === true ? 'answer what it caused itself' : 'have scripts run';
  throw new HotcellError('forbidden', `Only the operator’s own token lets a key ${what}.`, {
    fix: `Do it with the operator’s own token, or leave ${mayAnswer === true ? 'mayAnswer' : 'code'} out.`,
  });
}

/** A tool that is off or fails for a while has an owner, and is not missing. */
function findMissing({ tools: listed = [] }: CallerRules, { names, tools }: Omit<KeyParts, 'keys'>) {
  const there = new Set(tools.list().map(({ name }) => name));
  const missing = listed.filter((tool) => !tool.includes('*') && !there.has(tool) && names.ownerOf(tool) === undefined);
  return missing.length === 0 ? {} : { missingTools: missing.map((name) => ({ name, near: findNearNames(name, there) })) };
}

function describeKey(row: KeyRow, { names, tools }: Omit<KeyParts, 'keys'>) {
  const rules = readRules(row.rulesJson);
  const owners = readToolOwners(row.toolOwnersJson);
  const moved = (rules.tools ?? []).filter((tool) => isAnothers(owners, tool, names.ownerOf(tool)));
  const { id, name, role, createdAtMs, madeBy, lastUsedAtMs, revokedAtMs } = row;
  return {
    ...{ id, name, role, rules, createdAtMs },
    ...findMissing(rules, { names, tools }),
    ...omitUndefined({
      movedTools: moved.length === 0 ? undefined : moved,
      madeBy: madeBy ?? undefined,
      lastUsedAtMs: lastUsedAtMs ?? undefined,
      revokedAtMs: revokedAtMs ?? undefined,
    }),
  };
}
