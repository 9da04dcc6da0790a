import { describeBinding } from '../../../secrets/binding.ts';
import type { SecretView } from '../../../secrets/secret-types.ts';
import { secretContracts } from '../../contracts/access/secrets.ts';
import { pageOfAll } from '../../contracts/paging.ts';
import { implement, type Operation } from '../../operation.ts';
import type { OperationParts } from '../../operation-parts.ts';

/** What can be done with secrets. */
export function createSecretOperations({ secrets, events }: Pick<OperationParts, 'secrets' | 'events'>): Operation[] {
  return [
    implement(secretContracts.list, () => pageOfAll(secrets.list().map(describeSecret))),
    implement(secretContracts.set, (secret, { caller }) => {
      const view = secrets.set(secret);
      const data = { action: 'set' as const, binding: describeBinding(view.binding), by: caller.id };
      events.publish('secret-change', { subject: view.name, data });
      return describeSecret(view);
    }),
    implement(secretContracts.remove, ({ name }, { caller }) => {
      const view = secrets.list().find((each) => each.name === name);
      const removed = secrets.remove(name);
      if (removed && view !== undefined) {
        const data = { action: 'removed' as const, binding: describeBinding(view.binding), by: caller.id };
        events.publish('secret-change', { subject: name, data });
      }
      return { name, removed };
    }),
  ];
}

function describeSecret({ binding, ...view }: SecretView) {
  return { ...view, ...binding };
}
