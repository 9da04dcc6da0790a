import { parse as parseStream } from 'csv-parse';
import { parse } from 'csv-parse/sync';

export default {
  version: '1.0.0',
  description: 'Uses csv-parse. Use to see that the package works.',
  async handler() {
    const rows = await new Promise((resolve, reject) =>
      parseStream('a,b\n3,4', { columns: true }, (error, all) => (error ? reject(error) : resolve(all))),
    );
    return [parse('a,b\n1,2', { columns: true }), rows];
  },
  examples: [{ args: {}, expect: [[{ a: '1', b: '2' }], [{ a: '3', b: '4' }]] }],
};
