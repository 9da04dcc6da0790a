import CryptoJS from 'crypto-js';

export default {
  version: '1.0.0',
  description: 'Uses crypto-js. Use to see that the package works.',
  async handler() {
    const sealed = CryptoJS.AES.encrypt('text', 'secret').toString();
    return [CryptoJS.AES.decrypt(sealed, 'secret').toString(CryptoJS.enc.Utf8), CryptoJS.SHA256('a').toString().slice(0, 8)];
  },
  examples: [{ args: {}, expect: ['text', 'ca978112'] }],
};
