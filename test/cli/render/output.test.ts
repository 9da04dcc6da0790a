import { describe, expect, it } from 'vitest';
import { outputContent, renderOutput } from '../../../src/cli/render/output.ts';

const data = Buffer.from('GIF89a').toString('base64');
const own = { type: 'image', mediaType: 'image/gif', data };
const ofMcp = { type: 'image', mimeType: 'image/gif', data };

describe('renderOutput', () => {
  it('shows no base64 to a person, in the form of plugins and in that of MCP', () => {
    for (const part of [own, ofMcp]) {
      expect(renderOutput(part, true)).toBe('[image/gif, 6 B]\n');
      expect(renderOutput({ content: [{ type: 'text', text: 'see' }, part] }, true)).toContain('"[image/gif, 6 B]"');
      expect(renderOutput(part, false)).toContain(data);
    }
  });
});

describe('outputContent', () => {
  it('is the bytes of the only part', () => {
    for (const output of [own, ofMcp, [own], { content: [ofMcp] }]) expect(outputContent(output)).toEqual(Buffer.from('GIF89a'));
    expect(outputContent({ content: [ofMcp, ofMcp] })).toContain(data);
  });
});
