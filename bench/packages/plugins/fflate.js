import { gunzipSync, gzipSync, strFromU8, strToU8, unzipSync, zipSync } from 'fflate';

export default {
  version: '1.0.0',
  description: 'Uses fflate. Use to see that the package works.',
  async handler() {
    const files = unzipSync(zipSync({ 'a.txt': strToU8('hello') }));
    return [strFromU8(gunzipSync(gzipSync(strToU8('text')))), strFromU8(files['a.txt'])];
  },
  examples: [{ args: {}, expect: ['text', 'hello'] }],
};
