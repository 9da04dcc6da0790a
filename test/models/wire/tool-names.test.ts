import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeToolName, encodeCallId, encodeToolName } from '../../../src/models/wire/tool-names.ts';

const legal = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

describe('encodeToolName', () => {
  it.each([
    ['weather', 'weather'],
    ['read_file-2', 'read_file-2'],
    ['weather@1.0.0', 'weather_x40_1_x2e_0_x2e_0'],
    ['skills/weather', 'skills_x2f_weather'],
    ['grüezi', 'gr_xfc_ezi'],
    ['🌍', '_x1f30d_'],
    ['2nd', '_x32_nd'],
    ['a_x2f_b', 'a_x5f_x2f_b'],
    ['a_xf/', 'a_x5f_xf_x2f_'],
    ['parse_xml', 'parse_xml'],
  ])('writes %s as %s', (name, encoded) => {
    expect(encodeToolName(name)).toBe(encoded);
    expect(decodeToolName(encoded)).toBe(name);
  });

  it('is legal and reversible, whatever the name', () => {
    const anyName = fc.oneof(fc.string({ unit: 'binary', maxLength: 30 }), fc.stringMatching(/^[a-z_x0-9f@/.-]{1,90}$/));
    fc.assert(
      fc.property(anyName, (name) => {
        const encoded = encodeToolName(name);
        expect(encoded).toMatch(legal);
        expect(decodeToolName(encoded, ['other', name])).toBe(name);
        if (name !== '' && encoded.length < 51) expect(decodeToolName(encoded)).toBe(name);
      }),
    );
  });

  it('keeps long names apart', () => {
    const long = 'a'.repeat(80);
    expect(encodeToolName(`${long}1`)).not.toBe(encodeToolName(`${long}2`));
    expect(encodeToolName(long)).toHaveLength(64);
  });
});

describe('encodeCallId', () => {
  it('leaves legal ids alone, and makes of the same id always the same', () => {
    expect(encodeCallId('call_abc-1', 40)).toBe('call_abc-1');
    const odd = encodeCallId('functions.weather:0', 40);
    expect(odd).toMatch(/^[\w-]{1,40}$/);
    expect(odd).toBe(encodeCallId('functions.weather:0', 40));
    expect(encodeCallId('x'.repeat(90), 40)).toHaveLength(40);
    expect(encodeCallId('', 40)).toMatch(/^[\w-]+$/);
  });
});
