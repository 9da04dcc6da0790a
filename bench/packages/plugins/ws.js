import { WebSocket } from 'ws';

export default {
  version: '1.0.0',
  description: 'Uses ws. Use to see that the package works.',
  parameters: { type: 'object', properties: { base: { type: 'string' } } },
  permissions: { net: ['127.0.0.1'] },
  async handler({ base }) {
    const socket = new WebSocket(base.replace('http', 'ws'));
    return await new Promise((resolve, reject) => {
      socket.on('open', () => socket.send('hello'));
      socket.on('message', (data) => {
        resolve(String(data));
        socket.close();
      });
      socket.on('error', reject);
    });
  },
  examples: [{ args: {}, expect: 'hello' }],
};
