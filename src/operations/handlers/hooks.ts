import { fires } from '../../hooks/hook-events.ts';
import type { HookView } from '../../hooks/hook-types.ts';
import { describePermissions } from '../../permissions/decision.ts';
import { type HookItem, hookContracts } from '../contracts/hooks.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';

/** What can be done with hooks. */
export function createHookOperations({ hooks }: Pick<OperationParts, 'hooks'>): Operation[] {
  return [
    implement(hookContracts.list, async () => {
      await hooks.refresh();
      const items = hooks.list().map(describeHook);
      return { items, total: items.length, isOn: hooks.isOn };
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

function describeHook({ manifest, files, ...hook }: HookView): HookItem {
  const { title, description = '', events = [], tools = [], engine, image, permissions = {}, timeoutMs } = manifest ?? {};
  return {
    ...hook,
    ...(title === undefined ? {} : { title }),
    description,
    events: events.map(({ type, action }) => `${type}:${action}`),
    waitsFor: events.filter(({ event }) => !fires(event)).map(({ type, action }) => `${type}:${action}`),
    tools: [...tools],
    ...(engine === undefined ? {} : { engine }),
    ...(image === undefined ? {} : { image }),
    permissions: describePermissions(permissions),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    files: files.map((file) => ({ ...file })),
  };
}
