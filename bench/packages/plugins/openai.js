import OpenAI from 'openai';

export default {
  version: '1.0.0',
  description: 'Uses openai. Use to see that the package works.',
  parameters: { type: 'object', properties: { base: { type: 'string' } } },
  permissions: { net: ['127.0.0.1'] },
  async handler({ base }) {
    const client = new OpenAI({ apiKey: 'key', baseURL: `${base}/v1`, maxRetries: 0 });
    const done = await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
    const stream = await client.chat.completions.create({
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: 'hi' }],
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0].delta.content ?? '';
    return [done.choices[0].message.content, text];
  },
  examples: [{ args: {}, expect: ['hello', 'hello'] }],
};
