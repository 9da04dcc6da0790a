import FormData from 'form-data';

export default {
  version: '1.0.0',
  description: 'Uses form-data. Use to see that the package works.',
  async handler() {
    const form = new FormData();
    form.append('a', '1');
    return [form.getHeaders()['content-type'].startsWith('multipart/form-data'), form.getBuffer().includes('name="a"')];
  },
  examples: [{ args: {}, expect: [true, true] }],
};
