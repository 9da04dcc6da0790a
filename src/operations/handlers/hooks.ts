import { omitUndefined, type Readable } from '../../config/json-object.ts';
import { fires } from '../../hooks/hook-events.ts';
import type { HookView } from '../../hooks/hook-types.ts';
import { describePermissions } from '../../permissions/decision.ts';
import { type HookItem, hookContracts } from '../contracts/hooks.ts';
import { pageOfAll } from '../contracts/paging.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';

/** What can be done with hooks. */
export function createHookOperations({ hooks }: Pick<OperationParts, 'hooks'>): Operation[] {
  return [
    implement(hookContracts.list, async () => {
      await hooks.refresh();
      return { ...pageOfAll(hooks.list().map(describeHook)), isOn: hooks.isOn };
    }),
    implement(hookContracts.get, async ({ name }) => {
      await hooks.refresh();
      return describeHook(hooks.get(name));
    }),
    implement(hookContracts.approve, async ({ name, contentHash }, { caller }) =>
      describeHook(await hooks.approve(name, contentHash, caller.id)),
    ),
    implement(hookContracts.revoke, ({ name }, { caller }) => ({ name, revoked: hooks.revoke(name, caller.id) })),
  ];
}

function describeHook({ manifest, ...hook }: HookView): Readable<HookItem> {
  const { title, description = '', events = [], tools = [], engine, image, permissions = {}, timeoutMs } = manifest ?? {};
  return {
    ...hook,
    ...omitUndefined({ title, engine, image, timeoutMs }),
    description,
    events: events.map(({ type, action }) => `${type}:${action}`),
    waitsFor: events.filter(({ event }) => !fires(event)).map(({ type, action }) => `${type}:${action}`),
    tools,
    permissions: describePermissions(permissions),
  };
}
