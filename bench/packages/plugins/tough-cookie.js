import { CookieJar } from 'tough-cookie';

export default {
  version: '1.0.0',
  description: 'Uses tough-cookie. Use to see that the package works.',
  async handler() {
    const jar = new CookieJar();
    await jar.setCookie('a=1; Path=/', 'https://example.com/');
    return await jar.getCookieString('https://example.com/x');
  },
  examples: [{ args: {}, expect: 'a=1' }],
};
