import { io } from 'socket.io-client';

export default {
  version: '1.0.0',
  description: 'Uses socket.io-client. Use to see that the package works.',
  parameters: { type: 'object', properties: { base: { type: 'string' } } },
  permissions: { net: ['127.0.0.1'] },
  async handler({ base }) {
    const socket = io(base, { reconnection: false, transports: ['polling'], path: '/missing' });
    return await new Promise((resolve) => socket.on('connect_error', (error) => resolve(error.message)));
  },
  examples: [{ args: {}, expect: 'xhr poll error' }],
};
