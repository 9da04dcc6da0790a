import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { BorderRequest } from '../border/border.ts';
import { isObject } from '../config/json-object.ts';
import { maxInputDepth, nestsDeeper, nestsTooDeep } from '../config/read/json-nesting.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { suggestNearNames } from '../errors/near-names.ts';

/** Reads the payload of a request; throws `arguments-invalid` with the first fault. */
export type PayloadReader<Value> = (request: BorderRequest) => Value;

/** Makes the reader of one operation's payload from its schema. The schema is compiled once, on first use. */
export function createPayloadReader<Schema extends TSchema>(schema: Schema): PayloadReader<Static<Schema>> {
  let validator: ReturnType<typeof Compile<Schema>> | undefined;
  return ({ op, payload }) => {
    validator ??= Compile(schema);
    const value = parseJson(op, payload);
    if (validator.Check(value)) return value;
    throw new HotcellError(
      'arguments-invalid',
      `The arguments of ${op} are not usable${describeFault(validator.Errors(value), schema)}`,
      {
        fix: 'See hotcell docs plugin-format for what the capability takes.',
      },
    );
  };
}

type Fault = ReturnType<ReturnType<typeof Compile>['Errors']>[number];

/** The first fault: where it is, and what is expected there. A property that nobody knows is named with those that there are. */
function describeFault(faults: readonly Fault[], schema: TSchema): string {
  const unknown = faults.find((fault) => fault.keyword === 'additionalProperties' && fault.instancePath === '');
  if (unknown?.keyword === 'additionalProperties' && 'properties' in schema && isObject(schema.properties)) {
    const known = Object.keys(schema.properties);
    const [name = ''] = unknown.params.additionalProperties;
    return `: "${name.slice(0, 64)}" is not known here.${suggestNearNames(name, known)} It takes ${known.join(', ')}.`;
  }
  const fault = faults.find(({ keyword }) => keyword !== 'boolean');
  const place = fault?.instancePath ? ` at ${fault.instancePath}` : '';
  return `${place}: ${fault?.message ?? 'not valid'}.`;
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
