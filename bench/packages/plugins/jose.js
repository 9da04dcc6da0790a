import { CompactSign, compactVerify, exportJWK, generateKeyPair, importJWK, jwtVerify, SignJWT } from 'jose';

export default {
  version: '1.0.0',
  description: 'Uses jose. Use to see that the package works.',
  async handler() {
    const secret = new TextEncoder().encode('a secret of at least thirty-two bytes');
    const token = await new SignJWT({ who: 'ada' }).setProtectedHeader({ alg: 'HS256' }).setExpirationTime('1h').sign(secret);
    const { payload } = await jwtVerify(token, secret);
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const signed = await new CompactSign(new TextEncoder().encode('text')).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
    const again = await importJWK(await exportJWK(publicKey), 'ES256');
    const read = await compactVerify(signed, again);
    return [payload.who, new TextDecoder().decode(read.payload)];
  },
  examples: [{ args: {}, expect: ['ada', 'text'] }],
};
