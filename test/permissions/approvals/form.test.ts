import { describe, expect, it } from 'vitest';
import { readForm } from '../../../src/permissions/approvals/form.ts';
import { readAnswerContent } from '../../../src/permissions/approvals/form-answer.ts';

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Na\u001b[2Jme', minLength: 1, maxLength: 3 },
    size: { type: 'number', minimum: 0.5, default: 1.5 },
    site: { type: 'string', format: 'uri' },
    at: { type: 'string', format: 'date-time' },
    one: {
      type: 'string',
      oneOf: [
        { const: 'a', title: 'First\u202e' },
        { const: 'b', title: 'Second' },
      ],
    },
    some: { type: 'array', items: { type: 'string', enum: ['x', 'y', 'z'] }, minItems: 1, maxItems: 2, default: ['x'] },
  },
  required: ['name'],
  additionalProperties: false,
};
const question = { id: 'apr_1', kind: 'ask', details: { schema } } as const;
const answer = (content: unknown) => readAnswerContent(question, 'approved', content);

describe('readForm', () => {
  it('cleans the words that people read, and leaves the others', () => {
    expect(readForm(schema).schema).toEqual({
      type: 'object',
      properties: {
        ...schema.properties,
        name: { ...schema.properties.name, title: 'Name' },
        one: {
          type: 'string',
          oneOf: [
            { const: 'a', title: 'First' },
            { const: 'b', title: 'Second' },
          ],
        },
      },
      required: ['name'],
    });
  });

  it('reads its own schema again', () => {
    expect(readForm(readForm(schema).schema)).toEqual(readForm(schema));
  });
});

describe('readAnswerContent', () => {
  it('fills in defaults, and takes what fits', () => {
    expect(answer({ name: 'Ann' })).toEqual({ name: 'Ann', size: 1.5, some: ['x'] });
    const all = { name: '👩‍🚀', size: 0.5, site: 'https://example.com', at: '2026-01-01T00:00:00Z', one: 'b', some: ['y', 'z'] };
    expect(answer(all)).toEqual(all);
  });

  it('names every field that does not fit', () => {
    for (const [content, told] of [
      [{}, 'name must be a text with a length from 1 to 3, and is missing'],
      [{ name: '' }, 'name must be'],
      [{ name: 'long' }, 'name must be'],
      [{ name: 'a', size: 0 }, 'size must be a number of at least 0.5'],
      [{ name: 'a', size: null }, 'size must be'],
      [{ name: 'a', site: 'x' }, 'site must be a text of the format uri'],
      [{ name: 'a', at: 'today' }, 'at must be'],
      [{ name: 'a', one: 'c' }, 'one must be one of "a", "b"'],
      [{ name: 'a', some: [] }, 'some must be a list of 1 to 2 of'],
      [{ name: 'a', some: ['x', 'y', 'z'] }, 'some must be'],
      [{ name: 'a', toString: 'x' }, '"toString" is not asked for'],
      [{ name: 1, size: 'x' }, 'size must be'],
      ['text', 'content must be an object'],
      [['a'], 'content must be an object'],
    ] as const) {
      expect(() => answer(content), told).toThrow(
        expect.objectContaining({ code: 'body-invalid', message: expect.stringContaining(told) }),
      );
    }
    expect(() => answer(JSON.parse('{"name":"a","__proto__":{"x":1}}'))).toThrow('is not asked for');
  });

  it('goes with the approval of a question of kind ask alone', () => {
    expect(() => readAnswerContent(question, 'denied', {})).toThrow('content goes with');
    expect(() => readAnswerContent({ ...question, kind: 'confirm' }, 'approved', {})).toThrow('content goes with');
    expect(readAnswerContent({ ...question, kind: 'call' }, 'approved', undefined)).toBeUndefined();
  });
});
