import { describe, expect, it } from 'vitest';
import { readModelKey } from '../../src/models/model-key.ts';
import { createSecretRegistry } from '../../src/secrets/secret-registry.ts';
import { temporaryStore } from '../store/temporary-store.ts';

describe('readModelKey', () => {
  it.each([
    ['CONFIGURED', 'https://anywhere.example/v1', 'from-config'],
    ['ENV', 'https://anywhere.example/v1', 'from-env'],
    ['EMPTY', 'https://anywhere.example/v1', undefined],
    ['toString', 'https://anywhere.example/v1', undefined],
    ['BOUND', 'https://api.example.com/v1', 'bound-value-1'],
    ['BOUND', 'http://localhost:8080/v1', 'bound-value-1'],
    ['BOUND', 'http://api.example.com/v1', undefined],
    ['BOUND', 'https://evil.example/v1', undefined],
    ['OTHER', 'https://api.example.com/v1', undefined],
  ])('of %s for %s is %s', (name, baseUrl, value) => {
    const store = temporaryStore();
    const secrets = createSecretRegistry({ table: store.secrets, config: {}, env: {}, now: Date.now });
    secrets.set({ name: 'BOUND', value: 'bound-value-1', hosts: ['api.example.com', 'localhost'], header: 'Authorization' });
    secrets.set({ name: 'OTHER', value: 'other-value-1', hosts: ['api.example.com'], header: 'x-api-key' });
    const sources = {
      configured: { CONFIGURED: 'from-config', EMPTY: '' },
      secrets,
      processEnv: { ENV: 'from-env', CONFIGURED: 'no' },
    };
    expect(readModelKey(name, baseUrl, sources)).toBe(value);
  });

  it('gives a secret to the header that it is bound to, and to no other', () => {
    const store = temporaryStore();
    const secrets = createSecretRegistry({ table: store.secrets, config: {}, env: {}, now: Date.now });
    const headers = ['authorization', 'x-api-key', 'x-goog-api-key'];
    for (const header of headers) secrets.set({ name: header, value: `value-of-${header}`, hosts: ['api.example.com'], header });
    const sources = { configured: {}, secrets, processEnv: {} };
    const read = (name: string, header: string) => readModelKey(name, 'https://api.example.com', sources, header);
    for (const name of headers)
      expect(headers.map((header) => read(name, header))).toEqual(
        headers.map((header) => (header === name ? `value-of-${name}` : undefined)),
      );
  });
});
