import fc from 'fast-check';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { writeComment, writeMemberName, writeSchemaType } from '../../../src/builtins/code/schema-type.ts';

const string = { type: 'string' };

function faultsOf(type: string): string[] {
  const source = ts.createSourceFile('type.ts', `type Found = ${type};`, ts.ScriptTarget.ES2023);
  const { diagnostics = [] } = ts.transpileModule(source.text, { reportDiagnostics: true });
  const whole = source.statements.length === 1 ? [] : ['more than one statement'];
  return [...whole, ...diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))];
}

describe('writeSchemaType', () => {
  it.each([
    [true, 'unknown'],
    [false, 'never'],
    [{}, 'unknown'],
    [{ type: 'integer' }, 'number'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ enum: ['a', 'b', 3, null] }, '"a" | "b" | 3 | null'],
    [{ const: { at: [1] } }, '{ at: [1] }'],
    // An anchor is no place in the schema: what it means is not said rather than said wrongly.
    [{ $ref: '#node', $defs: { node: { $anchor: 'node', type: 'string' } }, type: 'object' }, 'unknown'],
    [{ type: 'string', nullable: true }, 'string | null'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, '("a" | "b")[]'],
    [{ type: 'array', prefixItems: [string, { type: 'number' }], items: false }, '[string?, number?]'],
    [{ type: 'array' }, 'unknown[]'],
    [{ type: 'object' }, 'Record<string, unknown>'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    [{ properties: { a: string, 'b-c': string }, required: ['a'] }, '{ a: string; "b-c"?: string }'],
    [{ type: 'object', properties: { a: string }, additionalProperties: true }, '{ a?: string; [key: string]: unknown }'],
    [{ anyOf: [string, { type: 'array', items: string }] }, 'string | string[]'],
    [
      { allOf: [{ properties: { a: string } }, { oneOf: [{ properties: { b: string } }, { properties: { c: string } }] }] },
      '{ a?: string } & ({ b?: string } | { c?: string })',
    ],
    [{ properties: { a: string }, required: ['a'], anyOf: [{ required: ['a'] }, { required: ['b'] }] }, '{ a: string }'],
    [{ $ref: '#/$defs/name', $defs: { name: string } }, 'string'],
    [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': string } }, 'string'],
    [{ $ref: 'https://example.com/schema.json' }, 'unknown'],
    [{ $ref: '#/nowhere' }, 'unknown'],
    [
      { $ref: '#/$defs/node', $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } } },
      '{ next?: unknown }',
    ],
  ])('writes %j as %s', (schema, expected) => {
    expect(writeSchemaType(schema)).toBe(expected);
    expect(faultsOf(expected)).toEqual([]);
  });

  it('writes what is unsaid as a tool that answers it needs it', () => {
    expect(writeSchemaType({ properties: { a: {} } }, 'any')).toBe('{ a?: any }');
  });

  it('ends, and is bounded, on schemas that multiply, nest and lead around in circles', () => {
    const doubled: Record<string, unknown> = { s0: { type: 'object', properties: { [`long_${'x'.repeat(500)}`]: string } } };
    for (let n = 1; n < 60; n++)
      doubled[`s${n}`] = {
        anyOf: [
          { $ref: `#/$defs/s${n - 1}` },
          { properties: { a: { $ref: `#/$defs/s${n - 1}` }, b: { $ref: `#/$defs/s${n - 1}` } } },
        ],
      };
    let nested: object = string;
    for (let n = 0; n < 5000; n++) nested = { type: 'array', items: nested };
    const cycle: Record<string, unknown> = { type: 'object' };
    cycle.properties = { again: cycle };
    const wide = {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 5000 }, (_, n) => [`p${n}`, { enum: Array.from({ length: 200 }, () => 'y'.repeat(300)) }]),
      ),
    };
    for (const schema of [{ $ref: '#/$defs/s59', $defs: doubled }, nested, cycle, wide]) {
      const type = writeSchemaType(schema);
      expect(type.length).toBeLessThan(200_000);
      expect(faultsOf(type)).toEqual([]);
    }
  });

  it('is one type, whatever names, values and descriptions say', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('*/', '*/ }; evil()', '`${', '"', "'", '//', '\u2028', '__proto__', '\\'),
    );
    const leaf = fc.oneof(
      fc.record({ type: fc.constantFrom('string', 'number', 'object', 'array', 'nothing'), description: text }),
      fc.record({ enum: fc.array(fc.oneof(text, fc.integer(), fc.constant(null)), { maxLength: 4 }) }),
      fc.record({ const: fc.jsonValue() }),
      fc.record({ $ref: fc.oneof(text, fc.constantFrom('#', '#/properties/a', '#/anyOf/0')) }),
    );
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.record({ type: fc.constant('object'), properties: fc.dictionary(text, tie('schema')), required: fc.array(text) }),
        fc.record({ type: fc.constant('array'), items: tie('schema') }),
        fc.record({ anyOf: fc.array(tie('schema')), description: text }),
        fc.record({ allOf: fc.array(tie('schema')) }),
      ),
    }));
    fc.assert(
      fc.property(schema, (each) => faultsOf(writeSchemaType(each)).length === 0),
      { numRuns: 300 },
    );
  });
});

describe('writeComment', () => {
  it('cannot be ended by its text, and is one line', () => {
    expect(writeComment('a */ b\n * @ts-nocheck\u0000 \u202ec')).toBe('/** a *\\/ b * @ts-nocheck c */ ');
    expect(writeComment('***/')).toBe('/** ***\\/ */ ');
    expect(writeComment(undefined)).toBe('');
  });
});

describe('writeMemberName', () => {
  it.each([
    ['plain', 'plain'],
    ['delete', 'delete'],
    ['server/tool', '"server/tool"'],
    ['7up', '"7up"'],
    ['', '""'],
  ])('writes %s as %s', (name, written) => {
    expect(writeMemberName(name)).toBe(written);
  });
});
