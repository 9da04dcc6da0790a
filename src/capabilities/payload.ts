import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { BorderRequest } from '../border/border.ts';
import { maxInputDepth, nestsDeeper, nestsTooDeep } from '../config/read/json-nesting.ts';
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
    const [fault] = validator.Errors(value);
    const place = fault?.instancePath ? ` at ${fault.instancePath}` : '';
    throw new HotcellError(
      'arguments-invalid',
      `The arguments of ${op} are not usable${place}: ${fault?.message ?? 'not valid'}.`,
      {
        fix: 'See hotcell docs plugin-format for what the capability takes.',
      },
    );
  };
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
