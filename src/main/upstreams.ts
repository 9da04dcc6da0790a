import { HotcellError } from '../errors/hotcell-error.ts';
import { readModelKey } from '../models/model-key.ts';
import { createUpstreams } from '../models/upstream/upstreams.ts';
import type { Upstreams, UpstreamTarget } from '../models/upstream.ts';
import type { Foundation } from './foundation.ts';

/** Opens the way to the models of the config. */
export function openUpstreams({ config, closers, secrets }: Foundation): Upstreams {
  const upstreams = createUpstreams({
    async resolve(model) {
      const { providers, timeoutMs } = config.models;
      const [name = '', ...rest] = model.split('/');
      const provider = providers[name];
      if (provider === undefined) throw new HotcellError('not-found', `There is no model "${model}".`);
      const { baseUrl, key: keyName } = provider;
      const target: UpstreamTarget = {
        provider: name,
        format: 'openai-chat',
        baseUrl,
        model: rest.join('/') || provider.model,
        keyName,
        authHeader: 'authorization',
        timeoutMs,
        maxRetries: 1,
      };
      return [target];
    },
    readKey: ({ keyName, baseUrl }) =>
      keyName === undefined
        ? undefined
        : readModelKey(keyName, baseUrl, { configured: config.env, secrets, processEnv: process.env }),
    meter: { reserve: () => ({ settle: () => {} }) },
  });
  closers.push(() => upstreams.close());
  return upstreams;
}
