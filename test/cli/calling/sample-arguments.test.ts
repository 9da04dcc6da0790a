import { describe, expect, it } from 'vitest';
import { sampleArguments } from '../../../src/cli/calling/sample-arguments.ts';
import { createValidatorCache } from '../../../src/tools/validation/validator.ts';

const schemas = {
  nested: {
    type: 'object',
    properties: {
      customer: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
        required: ['name', 'address'],
      },
      lines: {
        type: 'array',
        minItems: 1,
        items: { type: 'object', properties: { count: { type: 'integer', minimum: 2 } }, required: ['count'] },
      },
      payment: {
        anyOf: [
          { type: 'object', properties: { kind: { const: 'card' }, last4: { type: 'string' } }, required: ['kind', 'last4'] },
          { type: 'object', properties: { kind: { const: 'invoice' }, days: { type: 'number' } }, required: ['kind', 'days'] },
        ],
      },
      pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], minItems: 2, maxItems: 2 },
      notes: { type: 'string' },
    },
    required: ['customer', 'lines', 'payment', 'pair'],
  },
};

describe('sampleArguments', () => {
  it('fit the schema that they are made from, as deep as it goes', () => {
    const input = schemas.nested;
    const args = sampleArguments({ input, examples: [] });
    expect(args).toEqual({
      customer: { name: 'text', address: { city: 'text' } },
      lines: [{ count: 2 }],
      payment: { kind: 'card', last4: 'text' },
      pair: ['text', 1],
    });
    expect(createValidatorCache().validatorOf(input).findIssues(args, JSON.stringify(args).length)).toBeUndefined();
  });

  it('are the first example where there is one', () => {
    expect(sampleArguments({ input: schemas.nested, examples: [{ args: { a: 1 } }] })).toEqual({ a: 1 });
  });

  it('come to an end for a schema that holds itself', () => {
    const input: Record<string, unknown> = { type: 'object', required: ['again'] };
    input.properties = { again: input };
    expect(JSON.stringify(sampleArguments({ input, examples: [] })).length).toBeLessThan(1000);
  });
});
