import { describe, expect, it } from 'vitest';
import { isBoundedSchema } from '../../../src/tools/validation/prepare-schema.ts';
import { createValidatorCache } from '../../../src/tools/validation/validator.ts';

function findIssues(schema: Record<string, unknown>, value: unknown) {
  return createValidatorCache().validatorOf(schema).findIssues(value, JSON.stringify(value).length);
}

const gaveUp = [expect.objectContaining({ expected: 'a value that can be checked in bounded time' })];

describe('a hostile schema', () => {
  it('may not be huge or deep', () => {
    const many = { properties: Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`p${index}`, {}])) };
    let deep: Record<string, unknown> = {};
    for (let level = 0; level < 100; level++) deep = { not: deep };
    expect([isBoundedSchema(many), isBoundedSchema(deep), isBoundedSchema({ type: 'object' })]).toEqual([false, false, true]);
  });

  it('cannot multiply work by references that branch', () => {
    const $defs: Record<string, unknown> = { d25: { type: 'string' } };
    for (let level = 0; level < 25; level++) $defs[`d${level}`] = { allOf: Array(2).fill({ $ref: `#/$defs/d${level + 1}` }) };
    expect(findIssues({ $defs, $ref: '#/$defs/d0' }, 'x')).toEqual(gaveUp);
  });

  it('cannot multiply work by recursion into a deep value', () => {
    const twice = { items: { $ref: '#' } };
    let value: unknown = 1;
    for (let level = 0; level < 60; level++) value = [value];
    expect(findIssues({ allOf: [twice, twice] }, value)).toEqual(gaveUp);
  });

  it('cannot refer to itself without end', () => {
    expect(findIssues({ $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }, 1)).toEqual(gaveUp);
  });

  it('cannot scan one long text a thousand times', () => {
    const lengths = { anyOf: Array.from({ length: 900 }, (_, index) => ({ minLength: 900_001 + index })) };
    const patterns = { anyOf: Array.from({ length: 200 }, (_, index) => ({ pattern: `(a|b|ab)*${index}$` })) };
    expect(findIssues(lengths, '😀'.repeat(500_000))).toEqual(gaveUp);
    expect(findIssues(patterns, 'ab'.repeat(250_000))).toEqual(gaveUp);
  });

  it('cannot walk all keys a thousand times', () => {
    const value = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, 0]));
    expect(findIssues({ anyOf: Array(900).fill({ minProperties: 60_000 }) }, value)).toEqual(gaveUp);
  });

  it('cannot compare all items with all others', () => {
    const value = Array.from({ length: 20_000 }, (_, index) => ({ index }));
    expect(findIssues({ uniqueItems: true }, value)).toBeUndefined();
  });

  it('cannot backtrack', () => {
    expect(findIssues({ pattern: '^(a+)+$' }, `${'a'.repeat(50_000)}!`)).toHaveLength(1);
  });

  it('cannot hand out fuel or speak the words of this house', () => {
    const $defs = { a: { hotcellFuel: -1e9, allOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } };
    expect(findIssues({ $defs, $ref: '#/$defs/a' }, 1)).toEqual(gaveUp);
  });

  it('lets a large plain value through', () => {
    const value = { rows: Array.from({ length: 100_000 }, (_, index) => ({ id: index, name: `n${index}` })) };
    const row = {
      type: 'object',
      properties: { id: { type: 'integer' }, name: { type: 'string' } },
      additionalProperties: false,
    };
    expect(findIssues({ properties: { rows: { type: 'array', items: row } } }, value)).toBeUndefined();
  });
});
