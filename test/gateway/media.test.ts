import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WireFormatName } from '../../src/models/wire/wire-format.ts';
import { formats, type GatewayHouse, nameOf, openGateway } from './gateway-house.ts';
import { call, say } from './scripted.ts';

const data = 'iVBORw0KGgo=';
const shows = `export default { name: 'shows', description: 'Shows what there is.', parameters: { type: 'object' }, handler: () => ({ content: [
  { type: 'text', text: 'Here:' },
  { type: 'image', mimeType: 'image/png', data: '${data}' },
  { type: 'file', mediaType: 'application/pdf', name: 'a.pdf', data: '${data}' },
  { type: 'audio', mimeType: 'audio/wav', data: '${data}' },
  { type: 'resource', resource: { uri: 'notes://a', text: 'A note.' } },
] }) }`;

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGateway({ 'shows.ts': shows });
});
afterAll(() => house.close());
beforeEach(() => house.provider.forget());

const text = 'Here:\n[image/png, 8 bytes]\n[application/pdf, a.pdf, 8 bytes]\n[audio/wav, 8 bytes]\nnotes://a:\nA note.';
const pdf = `data:application/pdf;base64,${data}`;

/** What a provider gets of the result, in the place that its format has for it. */
const expected: Record<WireFormatName, unknown> = {
  'openai-chat': {
    messages: expect.arrayContaining([
      { role: 'tool', tool_call_id: 'call_1', content: text },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
          { type: 'file', file: { filename: 'a.pdf', file_data: pdf } },
          { type: 'input_audio', input_audio: { data, format: 'wav' } },
        ],
      },
    ]),
  },
  'openai-responses': {
    input: expect.arrayContaining([
      expect.objectContaining({
        type: 'function_call_output',
        output: expect.arrayContaining([
          { type: 'input_text', text },
          expect.objectContaining({ type: 'input_image', image_url: `data:image/png;base64,${data}` }),
          { type: 'input_file', filename: 'a.pdf', file_data: pdf },
        ]),
      }),
    ]),
  },
  anthropic: {
    messages: expect.arrayContaining([
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'call_1',
            content: [
              { type: 'text', text },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
              { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data } },
            ],
          },
        ],
      },
    ]),
  },
  gemini: {
    contents: expect.arrayContaining([
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'call_1',
              name: 'shows',
              response: { output: text },
              parts: [
                { inlineData: { mimeType: 'image/png', data } },
                { inlineData: { mimeType: 'application/pdf', data, displayName: 'a.pdf' } },
                { inlineData: { mimeType: 'audio/wav', data } },
              ],
            },
          },
        ],
      },
    ]),
  },
};

describe.each(formats)('a tool that answers with an image, a document, a sound and a resource', (upstream) => {
  it(`has ${upstream} shown what it can take, and the rest told`, async () => {
    say(house.provider, upstream, false, [[call('call_1', 'shows', {})], []]);
    const body = { model: `${nameOf(upstream)}/m-1`, messages: [{ role: 'user', content: `Show me, ${upstream}` }] };
    const response = await house.post('/v1/chat/completions', body);
    expect(response.status).toBe(200);
    expect(house.provider.seen.at(-1)?.body).toMatchObject(Object(expected[upstream]));
  });
});
