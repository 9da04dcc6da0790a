import type { ModelProvider } from '../config/settings/model-settings.ts';
import { createModelCatalog, type ModelCatalog } from '../models/catalog.ts';
import { createModelMeter, type ModelMeter } from '../models/meter.ts';
import { readModelKey } from '../models/model-key.ts';
import { createModelLists } from '../models/model-lists.ts';
import { createUpstreams } from '../models/upstream/upstreams.ts';
import type { Upstreams } from '../models/upstream.ts';
import type { Foundation } from './foundation.ts';

/** The models of the config: which there are, the way to them, and what they are used for. */
export interface OpenModels {
  readonly catalog: ModelCatalog;
  readonly upstreams: Upstreams;
  readonly meter: ModelMeter;
}

/** Opens the way to the models of the config. */
export function openUpstreams({ config, closers, secrets, store }: Foundation): OpenModels {
  const settings = config.models;
  const read = (name: string | undefined, baseUrl: string, header: string) =>
    name === undefined
      ? undefined
      : readModelKey(name, baseUrl, { configured: config.env, secrets, processEnv: process.env }, header);
  const readKey = ({ keyName, baseUrl, keyHeader }: ModelProvider) => read(keyName, baseUrl, keyHeader);
  const catalog = createModelCatalog({ settings, readKey, lists: createModelLists({ readKey, now: Date.now }) });
  const meter = createModelMeter({ settings, table: store.modelUses, now: Date.now });
  const upstreams = createUpstreams({
    resolve: catalog.resolve,
    readKey: ({ keyName, baseUrl, authHeader }) => read(keyName, baseUrl, authHeader),
    meter,
  });
  closers.push(() => upstreams.close());
  return { catalog, upstreams, meter };
}
