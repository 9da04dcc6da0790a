import ejs from 'ejs';

export default {
  version: '1.0.0',
  description: 'Uses ejs. Use to see that the package works.',
  async handler() {
    return ejs.render('<% for (const n of list) { %><%= n %>,<% } %>', { list: [1, 2] });
  },
  examples: [{ args: {}, expect: '1,2,' }],
};
