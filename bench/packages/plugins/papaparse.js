import Papa from 'papaparse';

export default {
  version: '1.0.0',
  description: 'Uses papaparse. Use to see that the package works.',
  async handler() {
    return [Papa.parse('a,b\n1,2', { header: true }).data, Papa.unparse([{ a: 1, b: 'x,y' }])];
  },
  examples: [{ args: {}, expect: [[{ a: '1', b: '2' }], 'a,b\r\n1,"x,y"'] }],
};
