import { describe, expect, it } from 'vitest';
import { wellFormedSchema, withWellFormedSchemas } from '../../../src/tools/validation/well-formed.ts';
import { makeEntry } from '../make-entry.ts';

const object = (schema: object) => ({ type: 'object', ...schema });

describe('wellFormedSchema', () => {
  it.each([
    ['a type that is none', { properties: { a: { type: 'numbr', minimum: 1 } } }, { properties: { a: { minimum: 1 } } }],
    ['a subschema that is none', { properties: { a: 'string', b: null } }, { properties: { a: {}, b: {} } }],
    ['required names that are no list', { required: 'a' }, {}],
    ['required inside a property', { properties: { a: { required: true } } }, { properties: { a: {} } }],
    ['properties that are a list', { properties: ['a'] }, {}],
    ['an empty choice', { properties: { a: { anyOf: [], enum: [] } } }, { properties: { a: {} } }],
    ['a choice with what is no schema', { anyOf: [{ type: 'object' }, 'x'] }, { anyOf: [{ type: 'object' }, {}] }],
    ['items that are no schema', { properties: { a: { items: 'string' } } }, { properties: { a: {} } }],
    ['words that are no text', { description: 5, title: [] }, {}],
    ['a reference that leads nowhere', { properties: { a: { $ref: '#/$defs/b' } } }, { properties: { a: {} } }],
    [
      'a definition that is none',
      { $defs: { a: 'x' }, properties: { b: { $ref: '#/$defs/a' } } },
      { $defs: { a: {} }, properties: { b: { $ref: '#/$defs/a' } } },
    ],
  ])('leaves out %s', (_what, broken, mended) => {
    expect(wellFormedSchema(object(broken))).toEqual(object(mended));
  });

  it('is the same object when nothing is wrong, in the words of any draft', () => {
    const schema = object({
      $defs: { a: { type: 'string' } },
      properties: {
        // Names of properties are no keywords.
        type: { type: 'integer', exclusiveMinimum: true, minimum: 0 },
        required: { $ref: '#/$defs/a' },
        items: { items: [{ type: 'string' }, true] },
        properties: { type: ['string', 'null'], const: { required: 'x' }, default: { type: 'y' }, 'x-own': 1 },
      },
      required: ['type'],
      additionalProperties: false,
    });
    expect(wellFormedSchema(schema)).toBe(schema);
  });

  it('ends at schemas without an end', () => {
    const deep: Record<string, unknown> = {};
    let inner = deep;
    for (let depth = 0; depth < 500; depth++) {
      const next = {};
      inner.items = next;
      inner = next;
    }
    expect(JSON.stringify(wellFormedSchema(object({ properties: { deep } })))).toContain('items');
  });
});

describe('an entry of a tool', () => {
  it('has both schemas as every reader takes them, whoever brings the tool', () => {
    const { manifest } = makeEntry({ name: 'find', input: object({ required: 'q' }), output: { type: 'list' } });
    expect(manifest).toMatchObject({ input: { type: 'object' }, output: {} });
    expect(manifest.input).not.toHaveProperty('required');
    expect(manifest.output).toEqual({});
  });

  it('keeps the manifest of a unit whose schemas are good', () => {
    const { manifest } = makeEntry({ name: 'find' });
    expect(withWellFormedSchemas(manifest)).toBe(manifest);
  });
});
