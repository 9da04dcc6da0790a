import Anthropic from '@anthropic-ai/sdk';

const client = (baseURL) => new Anthropic({ apiKey: 'key', baseURL, maxRetries: 0 });

export default {
  version: '1.0.0',
  description: 'Uses @anthropic-ai/sdk. Use to see that the package works.',
  parameters: { type: 'object', properties: { base: { type: 'string' } } },
  permissions: { net: ['127.0.0.1'] },
  async handler({ base }) {
    const message = await client(base).messages.create({
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
    });
    return message.content[0].text;
  },
  examples: [{ args: {}, expect: 'hello' }],
};
