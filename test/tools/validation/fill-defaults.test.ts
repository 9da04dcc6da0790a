import { describe, expect, it } from 'vitest';
import { createDefaultFiller } from '../../../src/tools/validation/fill-defaults.ts';

const fill = (schema: object, value: unknown): unknown => createDefaultFiller(schema)?.(value);

describe('createDefaultFiller', () => {
  it('is not there for a schema without defaults', () => {
    expect(createDefaultFiller({ type: 'object', properties: { a: { type: 'string' } } })).toBeUndefined();
  });

  it('puts defaults where nothing is, and leaves the given value alone', () => {
    const schema = { properties: { days: { default: 3 }, unit: { default: 'km' }, none: { default: null }, open: {} } };
    const given = Object.freeze({ unit: 'mi' });
    expect(fill(schema, given)).toEqual({ unit: 'mi', days: 3, none: null });
    expect(given).toEqual({ unit: 'mi' });
  });

  it('returns the very value when nothing is missing', () => {
    const given = { days: 0, list: [{ a: 1 }] };
    const schema = { properties: { days: { default: 3 }, list: { items: { properties: { a: { default: 2 } } } } } };
    expect(fill(schema, given)).toBe(given);
  });

  it('goes into objects, lists, tuples, parts of allOf, references, and into defaults themselves', () => {
    const schema = {
      $defs: { place: { properties: { land: { default: 'CH' } } }, near: { default: 7 } },
      allOf: [{ properties: { all: { default: 1 } } }],
      properties: {
        inner: { default: {}, properties: { deep: { properties: { x: { default: 1 } }, default: {} } } },
        list: { items: { $ref: '#/$defs/place' } },
        pair: { prefixItems: [{ $ref: '#/$defs/place' }], items: { properties: { n: { default: 2 } } } },
        near: { $ref: '#/$defs/near' },
      },
    };
    expect(fill(schema, { list: [{}, 'text'], pair: [{}, {}] })).toEqual({
      all: 1,
      inner: { deep: { x: 1 } },
      list: [{ land: 'CH' }, 'text'],
      pair: [{ land: 'CH' }, { n: 2 }],
      near: 7,
    });
  });

  it('hands out copies', () => {
    const schema = { properties: { tags: { default: ['x'] } } };
    expect(fill(schema, {})).not.toBe(fill(schema, {}));
    const [first, second] = [fill(schema, {}), fill(schema, {})].map((value) => Object.values(value ?? {})[0]);
    expect(first).toEqual(second);
    expect(first).not.toBe(second);
  });

  it('ends where a default needs its own schema for ever, and takes no name of an object for a value', () => {
    const circle = {
      $defs: { a: { default: {}, properties: { a: { $ref: '#/$defs/a' }, b: { $ref: '#/$defs/a' } } } },
      $ref: '#/$defs/a',
    };
    expect(JSON.stringify(fill(circle, {})).length).toBeLessThan(100_000);
    const odd = fill({ properties: { constructor: { default: 1 }, ['__proto__']: { default: 2 } } }, {});
    expect(Object.hasOwn(odd as object, 'constructor')).toBe(true);
  });
});
