import { describe, expect, it } from 'vitest';
import { findHeaderMismatch } from '../../src/mcp-door/param-headers.ts';

const schema = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    isDry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    inner: { type: 'object', properties: { deep: { type: 'string', 'x-mcp-header': 'Deep' } } },
    plain: { type: 'string' },
    bad: { type: 'string', 'x-mcp-header': 'not a token' },
  },
};
const find = (args: unknown, headers: Record<string, string>) => findHeaderMismatch(schema, args, new Headers(headers));
const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

describe('findHeaderMismatch', () => {
  it.each([
    [{ region: 'eu' }, { 'Mcp-Param-Region': 'eu' }],
    [{ region: 'eu' }, { 'mcp-param-region': '  eu  ' }],
    [{ region: 'Grüße' }, { 'mcp-param-region': base64('Grüße') }],
    [{ region: '' }, { 'mcp-param-region': '' }],
    [{ count: 42 }, { 'mcp-param-count': '42.0' }],
    [{ isDry: false }, { 'mcp-param-dry': 'false' }],
    [{ inner: { deep: 'x' } }, { 'mcp-param-deep': 'x' }],
    [{ region: null, inner: 'x', plain: 'y', bad: 'z' }, {}],
    [{}, { 'mcp-param-region': 'eu', 'mcp-param-other': 'x' }],
    [undefined, {}],
  ])('lets %j with %j pass', (args, headers) => {
    expect(find(args, headers)).toBeUndefined();
  });

  it.each([
    [{ region: 'eu' }, {}],
    [{ region: 'eu' }, { 'mcp-param-region': 'us' }],
    [{ region: 'eu' }, { 'mcp-param-region': 'EU' }],
    [{ region: 'eu' }, { 'mcp-param-region': '=?base64?ZXU?=' }],
    [{ region: 'eu' }, { 'mcp-param-region': '=?base64?ZX!U=?=' }],
    [{ region: '\u{fffd}' }, { 'mcp-param-region': '=?base64?/w==?=' }],
    [{ count: 0 }, { 'mcp-param-count': '' }],
    [{ count: 1 }, { 'mcp-param-count': 'one' }],
    [{ isDry: true }, { 'mcp-param-dry': '1' }],
    [{ inner: { deep: 'x' } }, { 'mcp-param-deep': 'y' }],
  ])('refuses %j with %j', (args, headers) => {
    expect(find(args, headers)).toEqual(expect.any(String));
  });

  it('takes nothing from what every object has', () => {
    const odd = { type: 'object', properties: { constructor: { properties: { name: { 'x-mcp-header': 'N' } } } } };
    expect(findHeaderMismatch(odd, {}, new Headers())).toBeUndefined();
  });
});
