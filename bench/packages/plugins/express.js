import express from 'express';

export default {
  version: '1.0.0',
  description: 'Uses express. Use to see that the package works.',
  async handler() {
    const app = express();
    app.get('/', (_request, response) => response.send('hello'));
    const server = await new Promise((resolve, reject) => {
      const started = app.listen(0, '127.0.0.1', (error) => (error ? reject(error) : resolve(started)));
    });
    server.close();
    return true;
  },
  examples: [{ args: {}, expect: true }],
};
