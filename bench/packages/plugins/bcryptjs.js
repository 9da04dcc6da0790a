import bcrypt from 'bcryptjs';

export default {
  version: '1.0.0',
  description: 'Uses bcryptjs. Use to see that the package works.',
  async handler() {
    return await bcrypt.compare('secret', await bcrypt.hash('secret', 4));
  },
  examples: [{ args: {}, expect: true }],
};
