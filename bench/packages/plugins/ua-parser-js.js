import { UAParser } from 'ua-parser-js';

export default {
  version: '1.0.0',
  description: 'Uses ua-parser-js. Use to see that the package works.',
  async handler() {
    return new UAParser('Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0').getBrowser().name;
  },
  examples: [{ args: {}, expect: 'Firefox' }],
};
