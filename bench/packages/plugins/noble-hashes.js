import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

export default {
  version: '1.0.0',
  description: 'Uses @noble/hashes. Use to see that the package works.',
  async handler() {
    return bytesToHex(sha256(new TextEncoder().encode('a'))).slice(0, 8);
  },
  examples: [{ args: {}, expect: 'ca978112' }],
};
