import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { BorderRequest } from '../border/border.ts';
import { maxInputDepth, nestsDeeper, nestsTooDeep } from '../config/read/json-nesting.ts';
import { describeFaults, propertyNames, type SchemaFault, unknownNames } from '../config/schema-faults.ts';
import { HotcellError } from '../errors/hotcell-error.ts';

/** Reads the payload of a request; throws `arguments-invalid` with the first fault. */
export type PayloadReader<Value> = (request: BorderRequest) => Value;

/** Makes the reader of one operation's payload from its schema. The schema is compiled once, on first use. */
export function createPayloadReader<Schema extends TSchema>(schema: Schema): PayloadReader<Static<Schema>> {
  let validator: ReturnType<typeof Compile<Schema>> | undefined;
  return ({ op, payload }) => {
    validator ??= Compile(schema);
    const value = parseJson(op, payload);
    if (validator.Check(value)) return value;
    const message = `The arguments of ${op} are not usable: ${describeFirst(validator.Errors(value), schema, value)}`;
    throw new HotcellError('arguments-invalid', message, {
      fix: 'See hotcell docs plugin-format for what the capability takes.',
    });
  };
}

/** The first fault. A property that nobody knows is named with those that there are. */
function describeFirst(faults: readonly SchemaFault[], schema: TSchema, value: unknown): string {
  const strange = faults.find((fault) => fault.instancePath === '' && unknownNames([fault]).length > 0);
  const [sentence = 'not valid.'] = describeFaults(strange === undefined ? faults : [strange], schema, value);
  return strange === undefined ? sentence : `${sentence} It takes ${propertyNames(schema).join(', ')}.`;
}

function parseJson(op: string, payload: string): unknown {
  if (nestsDeeper(payload, maxInputDepth)) {
    throw new HotcellError('arguments-invalid', `The arguments of ${op} are not usable. ${nestsTooDeep}`);
  }
  try {
    return JSON.parse(payload);
  } catch (cause) {
    throw new HotcellError('arguments-invalid', `The arguments of ${op} are not JSON.`, {
      cause,
      fix: 'Pass plain JSON values.',
    });
  }
}
