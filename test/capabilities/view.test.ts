import { describe, expect, it } from 'vitest';
import { buildBorderView, type ViewSources } from '../../src/capabilities/view.ts';
import { createSecretRegistry } from '../../src/secrets/secret-registry.ts';
import { temporaryStore } from '../store/temporary-store.ts';

function view(sources: Partial<ViewSources>) {
  return buildBorderView({
    pluginName: 'weather',
    own: { units: 'metric', city: { name: 'Bern' } },
    ownKey: () => 'weather',
    isOperators: true,
    requested: {},
    granted: {},
    config: {
      env: { API_KEY: 'from config' },
    },
    processEnv: { API_KEY: 'from environment', ONLY_ENV: 'e', HOTCELL_TOKEN: 'admin', PATH: '/bin' },
    ...sources,
  });
}

describe('buildBorderView', () => {
  it('always shows the plugin its own values, and nothing else', () => {
    expect(view({})).toEqual({ config: { units: 'metric', city: { name: 'Bern' } }, env: {}, denied: {} });
    expect(view({ own: {} })).toEqual({ config: {}, env: {}, denied: {} });
  });

  it('shows a build of another hand those of its values alone that it was granted', () => {
    expect(view({ isOperators: false, granted: { env: ['units'] } }).config).toEqual({ units: 'metric' });
  });

  it('shows granted names to config and env, from the config before the environment', () => {
    const { config, env } = view({ granted: { env: ['API_KEY', 'ONLY_ENV', 'NOT_SET'] } });
    expect(env).toEqual({ API_KEY: 'from config', ONLY_ENV: 'e' });
    expect(config).toEqual({ units: 'metric', city: { name: 'Bern' }, API_KEY: 'from config', ONLY_ENV: 'e' });
  });

  it('gives a sentence for what was asked for in vain', () => {
    const { denied, env } = view({ requested: { env: ['API_KEY', 'ONLY_ENV', 'units'] }, granted: { env: ['ONLY_ENV'] } });
    expect(env).toEqual({ ONLY_ENV: 'e' });
    expect(denied).toEqual({
      API_KEY:
        'Plugin "weather" may not read API_KEY from the environment. ' +
        'Set plugins.weather.API_KEY in the config, which context.config.get answers, or grant the environment variable. ' +
        'Allow it with: hotcell grant weather env=API_KEY',
    });
  });

  it('never shows the daemon its own names, and takes odd names as names', () => {
    const granted = { env: ['HOTCELL_TOKEN', 'hotcell_token', 'constructor', '__proto__', 'toString'] };
    expect(view({ granted, own: {}, config: { env: { HOTCELL_TOKEN: 'x' } } })).toEqual({ config: {}, env: {}, denied: {} });
  });

  it('is made once for the same sources, and again for another grant', () => {
    const sources = { own: {}, config: { env: {} }, requested: {}, granted: {}, processEnv: {} };
    expect(view(sources)).toBe(view(sources));
    expect(view({ ...sources, pluginName: 'other' })).not.toBe(view(sources));
    expect(view({ ...sources, granted: {} })).not.toBe(view(sources));
  });

  it('is frozen', () => {
    expect(Object.isFrozen(view({})) && Object.isFrozen(view({}).env) && Object.isFrozen(view({}).config)).toBe(true);
  });

  it('answers a placeholder for a granted secret, another one in every call, and never its value', () => {
    const secrets = createSecretRegistry({
      table: temporaryStore().secrets,
      config: {
        FROM_ENV: { env: 'SOURCE', hosts: ['a.com'], header: 'x' },
        GONE: { env: 'NOT_SET', hosts: ['a.com'], header: 'x' },
      },
      env: { SOURCE: 'value of the source' },
      now: Date.now,
    });
    secrets.set({ name: 'KEPT', value: 'value of the kept', hosts: ['a.com'], header: 'x' });
    const sources = {
      secrets,
      own: { copied: 'value of the kept' },
      config: { env: {} },
      requested: { env: ['KEPT', 'FROM_ENV', 'SOURCE', 'GONE', 'OTHER'] },
      granted: { env: ['KEPT', 'SOURCE', 'GONE'] },
      processEnv: { SOURCE: 'value of the source', KEPT: 'an older way' },
    };
    const seen = view({ ...sources, executionId: 'exe_1' });
    expect(seen.env).toEqual({ KEPT: secrets.placeholderOf('exe_1', 'KEPT'), SOURCE: '[secret FROM_ENV]' });
    expect(seen.config).toEqual({ ...seen.env, copied: '[secret KEPT]' });
    expect(seen.denied).toEqual({
      FROM_ENV: 'Plugin "weather" may not use the secret FROM_ENV. Allow it with: hotcell grant weather env=FROM_ENV',
      GONE: 'The secret GONE has no value: the environment variable NOT_SET is not set.',
      OTHER: expect.stringContaining('may not read OTHER'),
    });
    expect(view({ ...sources, executionId: 'exe_1' })).toBe(seen);
    expect(view({ ...sources, executionId: 'exe_2' }).env.KEPT).toBe(secrets.placeholderOf('exe_2', 'KEPT'));
    secrets.remove('KEPT');
    expect(view({ ...sources, executionId: 'exe_1' }).env).not.toHaveProperty('KEPT', seen.env.KEPT);
  });
});
