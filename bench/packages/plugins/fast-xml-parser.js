import { XMLBuilder, XMLParser } from 'fast-xml-parser';

export default {
  version: '1.0.0',
  description: 'Uses fast-xml-parser. Use to see that the package works.',
  async handler() {
    return [new XMLParser().parse('<a><b>1</b></a>'), new XMLBuilder().build({ c: 2 })];
  },
  examples: [{ args: {}, expect: [{ a: { b: 1 } }, '<c>2</c>'] }],
};
