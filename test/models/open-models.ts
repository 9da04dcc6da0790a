import type { Caller } from '../../src/callers/caller.ts';
import { defaultSettings } from '../../src/config/schema.ts';
import type { ModelSettings } from '../../src/config/settings/model-settings.ts';
import { createModelCatalog } from '../../src/models/catalog.ts';
import { createModelMeter } from '../../src/models/meter.ts';
import { createModelLists } from '../../src/models/model-lists.ts';
import { createTextGenerator } from '../../src/models/text-generator.ts';
import { createUpstreamHttp } from '../../src/models/upstream/http.ts';
import { createUpstreams } from '../../src/models/upstream/upstreams.ts';
import { temporaryStore } from '../store/temporary-store.ts';

/** The models of a daemon over a store of a test: real parts, no daemon. */
export function openModels(
  chosen: Partial<ModelSettings>,
  keys: Readonly<Record<string, string>> = {},
  callers: Readonly<Record<string, Caller>> = {},
  now: () => number = Date.now,
) {
  const settings: ModelSettings = { ...defaultSettings.models, ...chosen };
  const store = temporaryStore();
  const readKey = ({ keyName }: { readonly keyName?: string | undefined }) => (keyName === undefined ? undefined : keys[keyName]);
  const http = createUpstreamHttp();
  const catalog = createModelCatalog({ settings, readKey, lists: createModelLists({ readKey, http, now }) });
  const meter = createModelMeter({ settings, table: store.modelUses, now });
  const upstreams = createUpstreams({ resolve: catalog.resolve, readKey, meter, http });
  const generator = createTextGenerator({ settings, catalog, upstreams, callerOf: (id) => callers[id] });
  return { settings, store, catalog, meter, upstreams, generator, [Symbol.asyncDispose]: () => upstreams.close() };
}
