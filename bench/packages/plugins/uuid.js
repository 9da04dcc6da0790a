import { v4, v5, validate, version } from 'uuid';

export default {
  version: '1.0.0',
  description: 'Uses uuid. Use to see that the package works.',
  async handler() {
    return [validate(v4()), version(v4()), v5('hello', v5.URL)];
  },
  examples: [{ args: {}, expect: [true, 4, '074171de-bc84-5ea4-b636-1135477620e1'] }],
};
