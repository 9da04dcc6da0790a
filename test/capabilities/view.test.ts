import { describe, expect, it } from 'vitest';
import { buildBorderView, type ViewSources } from '../../src/capabilities/view.ts';

function view(sources: Partial<ViewSources>) {
  return buildBorderView({
    pluginName: 'weather',
    requested: {},
    granted: {},
    config: {
      plugins: { weather: { units: 'metric', city: { name: 'Bern' } }, other: { secret: 1 } },
      env: { API_KEY: 'from config' },
    },
    processEnv: { API_KEY: 'from environment', ONLY_ENV: 'e', HOTCELL_TOKEN: 'admin', PATH: '/bin' },
    ...sources,
  });
}

describe('buildBorderView', () => {
  it('always shows the plugin its own values, and nothing else', () => {
    expect(view({})).toEqual({ config: { units: 'metric', city: { name: 'Bern' } }, env: {}, denied: {} });
    expect(view({ pluginName: 'stranger' })).toEqual({ config: {}, env: {}, denied: {} });
    expect(view({ pluginName: '__proto__' })).toEqual({ config: {}, env: {}, denied: {} });
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
    expect(view({ granted, config: { plugins: {}, env: { HOTCELL_TOKEN: 'x' } } })).toEqual({ config: {}, env: {}, denied: {} });
  });

  it('is made once for the same sources, and again for another grant', () => {
    const sources = { config: { plugins: {}, env: {} }, requested: {}, granted: {}, processEnv: {} };
    expect(view(sources)).toBe(view(sources));
    expect(view({ ...sources, pluginName: 'other' })).not.toBe(view(sources));
    expect(view({ ...sources, granted: {} })).not.toBe(view(sources));
  });

  it('is frozen', () => {
    expect(Object.isFrozen(view({})) && Object.isFrozen(view({}).env) && Object.isFrozen(view({}).config)).toBe(true);
  });
});
