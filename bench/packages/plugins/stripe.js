import Stripe from 'stripe';

export default {
  version: '1.0.0',
  description: 'Uses stripe. Use to see that the package works.',
  parameters: { type: 'object', properties: { base: { type: 'string' } } },
  permissions: { net: ['127.0.0.1'] },
  async handler({ base }) {
    const { hostname, port } = new URL(base);
    const client = new Stripe('sk_test_x', { host: hostname, port, protocol: 'http', maxNetworkRetries: 0, telemetry: false });
    return (await client.customers.retrieve('cus_1')).id;
  },
  examples: [{ args: {}, expect: 'cus_1' }],
};
