import { generateKeyPairSync } from 'node:crypto';
import jwt from 'jsonwebtoken';

export default {
  version: '1.0.0',
  description: 'Uses jsonwebtoken. Use to see that the package works.',
  async handler() {
    const token = jwt.sign({ who: 'ada' }, 'secret', { expiresIn: '1h' });
    const { publicKey, privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const signed = jwt.sign({ who: 'eve' }, privateKey, { algorithm: 'RS256' });
    return [jwt.verify(token, 'secret').who, jwt.verify(signed, publicKey).who];
  },
  examples: [{ args: {}, expect: ['ada', 'eve'] }],
};
