import type { Static, TSchema } from 'typebox';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { InvocableOperation } from './invoke.ts';
import type { OperationContext, OperationContract } from './operation.ts';

/** Asks operations by their contracts, with their types: what a door uses that puts several of them together. */
export type Ask = <Input extends TSchema, Output extends TSchema>(
  contract: OperationContract<Input, Output>,
  input: Static<Input>,
  context: OperationContext,
) => Promise<Static<Output>>;

/** Rights and inputs are checked as at every door. */
export function createAsk(operations: ReadonlyMap<string, InvocableOperation>): Ask {
  return async <Output extends TSchema>(
    contract: OperationContract<TSchema, Output>,
    input: unknown,
    context: OperationContext,
  ) => {
    const invocable = operations.get(contract.name);
    if (invocable === undefined) throw new HotcellError('internal', `There is no operation ${contract.name}.`);
    // The handler of a contract answers what its output says: `implement` holds it to that.
    return (await invocable.invoke(input, context)) as Static<Output>;
  };
}
