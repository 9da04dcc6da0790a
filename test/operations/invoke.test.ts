import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import { prepareOperations } from '../../src/operations/invoke.ts';
import { defineContract, implement } from '../../src/operations/operation.ts';

const contract = defineContract({
  name: 'things.make',
  summary: 'Makes a thing.',
  role: 'admin',
  input: { name: Type.String({ maxLength: 4 }), count: Type.Optional(Type.Integer({ minimum: 1 })) },
  output: Type.Object({ made: Type.String() }),
  http: { method: 'POST', path: '/api/things/:name' },
});
const operations = prepareOperations([implement(contract, ({ name }) => ({ made: name }))]);

function invoke(input: unknown, role: 'admin' | 'caller' = 'admin'): unknown {
  return operations.get('things.make')?.invoke(input, { caller: { id: 'x', role }, signal: new AbortController().signal });
}

function refusalOf(input: unknown, role: 'admin' | 'caller' = 'admin'): HotcellError {
  try {
    invoke(input, role);
  } catch (error) {
    if (error instanceof HotcellError) return error;
  }
  throw new Error('it was not refused');
}

describe('prepareOperations', () => {
  it('hands the handler what fits the schema', () => {
    expect(invoke({ name: 'a' })).toEqual({ made: 'a' });
  });

  it('refuses a caller what is for admins, before it looks at the input', () => {
    expect(refusalOf({ nonsense: true }, 'caller').code).toBe('forbidden');
  });

  it.each([
    [{}, '"name" is missing.'],
    [{ name: 'a', cuont: 1 }, '"cuont" is not known here. Did you mean "count"?'],
    [{ name: 'abcde' }, '"name" must not have more than 4 characters, got 5.'],
    [{ name: 'a', count: 0 }, '"count" must be >= 1, got the number 0.'],
    [{ name: 'a', count: 'two' }, '"count" must be integer, got the text "two".'],
    [null, 'it must be object, got null.'],
    [{ name: 'a', ['x'.repeat(1000)]: 1 }, 'xxx'],
  ])('names what is wrong in %j', (input, said) => {
    const refusal = refusalOf(input);
    expect([refusal.code, refusal.message]).toEqual(['body-invalid', expect.stringContaining(said)]);
    expect(refusal.message.length).toBeLessThan(400);
  });
});
