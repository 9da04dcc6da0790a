import Redis from 'ioredis';

export default {
  version: '1.0.0',
  description: 'Uses ioredis. Use to see that the package works.',
  parameters: { type: 'object', properties: { base: { type: 'string' } } },
  permissions: { net: ['127.0.0.1'] },
  async handler({ base }) {
    const { hostname, port } = new URL(base);
    const options = { host: hostname, port: Number(port), lazyConnect: true, retryStrategy: null, maxRetriesPerRequest: 0 };
    const redis = new Redis(options);
    await redis.connect();
    redis.disconnect();
    return redis.options.host;
  },
  examples: [{ args: {}, expect: '127.0.0.1' }],
};
