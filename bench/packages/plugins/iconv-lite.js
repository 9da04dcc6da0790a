import iconv from 'iconv-lite';

export default {
  version: '1.0.0',
  description: 'Uses iconv-lite. Use to see that the package works.',
  async handler() {
    return [iconv.decode(Buffer.from([0x93, 0xfa, 0x96, 0x7b]), 'shift_jis'), iconv.encode('é', 'win1252')[0]];
  },
  examples: [{ args: {}, expect: ['日本', 233] }],
};
