import { describe, expect, it } from 'vitest';
import { sayIssue } from '../../../src/tools/validation/schema-issue.ts';
import { checkSchema, createValidatorCache } from '../../../src/tools/validation/validator.ts';

function explain(schema: Record<string, unknown>, value: unknown): string[] | undefined {
  const text = JSON.stringify(value);
  return createValidatorCache().validatorOf(schema).findIssues(JSON.parse(text), text.length)?.map(sayIssue);
}

const weather = {
  type: 'object',
  properties: { city: { type: 'string', minLength: 1 }, days: { type: 'integer', minimum: 1, maximum: 14 } },
  required: ['city'],
  additionalProperties: false,
};

describe('createValidatorCache', () => {
  it('accepts what fits and coerces nothing', () => {
    expect(explain(weather, { city: 'Bern', days: 3 })).toBeUndefined();
    expect(explain(weather, { city: 'Bern', days: '3' })).toEqual(['days: expected an integer, got the text "3"']);
  });

  it('names every misfit with near names', () => {
    expect(explain(weather, { citty: 'Bern', days: 99 })).toEqual([
      'city: expected text (it is required), got "citty" instead',
      'citty: expected only city, days, got the text "Bern" (did you mean "city"?)',
      'days: expected a number <= 14, got the number 99',
    ]);
  });

  it('says the path into lists and odd names', () => {
    const schema = { properties: { rows: { items: { properties: { 'a b': { type: 'number' } } } } } };
    expect(explain(schema, { rows: [{}, { 'a b': null }] })).toEqual(['rows[1]["a b"]: expected a number, got null']);
  });

  it('folds alternatives into one sentence', () => {
    const schema = { properties: { at: { anyOf: [{ type: 'string' }, { type: 'number' }] } } };
    expect(explain(schema, { at: true })).toEqual(['at: expected text or a number, got the boolean true']);
  });

  it('counts code points for lengths', () => {
    expect(explain({ minLength: 2, maxLength: 2 }, '😀😀')).toBeUndefined();
    expect(explain({ maxLength: 2 }, '😀😀😀')).toEqual(['expected at most 2 characters, got the text "😀😀😀"']);
  });

  it('tells equal items apart from equal texts', () => {
    expect(explain({ uniqueItems: true }, [1, '1', { a: 1, b: 2 }, '{"a":1,"b":2}'])).toBeUndefined();
    expect(
      explain({ uniqueItems: true }, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    ).toHaveLength(1);
  });

  it('is not misled by names of Object.prototype', () => {
    const schema = { properties: { constructor: { type: 'string' } }, required: ['toString'] };
    expect(explain(schema, {})).toEqual(['toString: expected a value (it is required), got nothing']);
  });

  it('knows draft-07, draft-04 bounds and nullable', () => {
    const tuple = { items: [{ type: 'string' }], additionalItems: { type: 'number' } };
    expect(explain(tuple, ['a', 1, 2])).toBeUndefined();
    expect(explain(tuple, ['a', 'b'])).toEqual(['[1]: expected a number, got the text "b"']);
    expect(explain({ minimum: 0, exclusiveMinimum: true }, 0)).toHaveLength(1);
    expect(explain({ type: 'string', nullable: true }, null)).toBeUndefined();
    expect(explain({ definitions: { n: { type: 'number' } }, items: { $ref: '#/definitions/n' } }, [1, 'x'])).toHaveLength(1);
    expect(explain({ dependencies: { a: ['b'] } }, { a: 1 })).toEqual(['b: expected a value (it is required), got nothing']);
  });

  it('follows recursive references', () => {
    const tree = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } }, required: ['children'] };
    expect(explain(tree, { children: [{ children: [] }] })).toBeUndefined();
    expect(explain(tree, { children: [{ children: [{}] }] })).toEqual([
      'children[0].children[0].children: expected a list (it is required), got nothing',
    ]);
  });

  it('checks the common formats', () => {
    expect(explain({ format: 'date' }, '2024-02-29')).toBeUndefined();
    expect(explain({ format: 'date' }, '2023-02-29')).toEqual(['expected text in the format date, got the text "2023-02-29"']);
    expect(explain({ format: 'date-time' }, '2024-02-29T10:00:00Z')).toBeUndefined();
    expect(explain({ format: 'email' }, 'a@b')).toBeUndefined();
    expect(explain({ format: 'who-knows' }, 'x')).toBeUndefined();
  });

  it('reuses the validator of an equal schema', () => {
    const cache = createValidatorCache();
    expect(cache.validatorOf({ type: 'string' })).toBe(cache.validatorOf({ type: 'string' }));
  });

  it('keeps schemas with the same $id apart', () => {
    const cache = createValidatorCache();
    expect(cache.validatorOf({ $id: 'https://x/y', type: 'string' }).findIssues('a', 3)).toBeUndefined();
    expect(cache.validatorOf({ $id: 'https://x/y', type: 'number' }).findIssues('a', 3)).toHaveLength(1);
  });
});

describe('checkSchema', () => {
  it('names what cannot be checked', () => {
    expect(checkSchema({ properties: { a: { pattern: '^(?=x)y' } } }).warnings).toEqual([
      expect.stringContaining('/properties/a/pattern is not checked: the pattern /^(?=x)y/ cannot be matched in linear time'),
    ]);
    expect(checkSchema({ $ref: 'https://example.com/schema' }).warnings[0]).toContain('leads nowhere');
    expect(checkSchema({ required: 'name' }).warnings).toEqual([
      'The schema keyword /required is not checked: it has the wrong shape, so models are not told of it either.',
    ]);
    expect(checkSchema(weather).warnings).toEqual([]);
  });

  it('accepts what only a pattern of the unusable kind would have judged', () => {
    const schema = { patternProperties: { '^(?!a)': { type: 'number' } }, additionalProperties: false };
    expect(explain(schema, { b: 1 })).toBeUndefined();
  });
});
