import { createModelCatalog, type ModelCatalog } from '../models/catalog.ts';
import { createModelMeter, type ModelMeter } from '../models/meter.ts';
import { readModelKey } from '../models/model-key.ts';
import { createModelLists } from '../models/model-lists.ts';
import { createUpstreamHttp } from '../models/upstream/http.ts';
import { createUpstreams } from '../models/upstream/upstreams.ts';
import type { Upstreams, UpstreamTarget } from '../models/upstream.ts';
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
  const http = createUpstreamHttp();
  const readKey = ({ keyName, baseUrl, keyHeader }: Pick<UpstreamTarget, 'keyName' | 'baseUrl' | 'keyHeader'>) =>
    keyName === undefined
      ? undefined
      : readModelKey(keyName, baseUrl, { configured: config.env, secrets, processEnv: process.env }, keyHeader);
  const catalog = createModelCatalog({ settings, readKey, lists: createModelLists({ readKey, http, now: Date.now }) });
  const meter = createModelMeter({ settings, table: store.modelUses, now: Date.now });
  const upstreams = createUpstreams({ resolve: catalog.resolve, readKey, meter, http });
  closers.push(() => upstreams.close());
  return { catalog, upstreams, meter };
}
