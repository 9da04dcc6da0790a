import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../src/plugins/manifest/read-manifest.ts';
import { listSchemaWarnings } from '../../../src/tools/validation/validator.ts';

function manifestWith(parameters: unknown) {
  const exported = { default: { name: 'find', handler: { $function: true }, parameters }, named: {} };
  const read = readManifest({ exported, fileName: 'find.ts' });
  if (!read.ok) throw new Error(read.diagnostic.message);
  return read.manifest;
}

describe('listSchemaWarnings', () => {
  it('names what of a schema is not checked', () => {
    const manifest = manifestWith({ type: 'object', properties: { q: { type: 'string', pattern: '(?=a)b' } } });
    expect(listSchemaWarnings(manifest.tools).join(' ')).toMatch(/find, parameters: .*pattern/);
  });

  it('has nothing to say of schemas that are checked whole', () => {
    const manifest = manifestWith({ type: 'object', properties: { q: { type: 'string' } } });
    expect(listSchemaWarnings(manifest.tools)).toEqual([]);
  });
});
