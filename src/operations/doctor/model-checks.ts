import { createModelCatalog, type ProviderState } from '../../models/catalog.ts';
import { readModelKey } from '../../models/model-key.ts';
import type { Finding } from '../contracts/daemon.ts';
import type { DoctorFacts } from './doctor-facts.ts';

const name = 'models';

/** Can the models of the config be asked? Nobody is asked for it: that costs tokens. */
export function checkModels({ config, providers = readOffline(config) }: DoctorFacts): Finding {
  if (providers.length === 0) {
    return { name, status: 'ok', message: 'No provider of models is named; what needs a model says so.' };
  }
  const ready = providers.filter(({ problem }) => problem === undefined).map(({ provider }) => provider.name);
  const problems = providers.flatMap(({ problem }) => problem ?? []);
  const named = ready.length === 0 ? '' : `${ready.join(', ')} ${ready.length === 1 ? 'is' : 'are'} ready. `;
  if (problems.length === 0) {
    return { name, status: 'ok', message: `${named}Whether they answer is shown by hotcell models test.` };
  }
  return {
    name,
    status: 'warn',
    message: `${named}${problems.map(({ message }) => message).join(' ')}`,
    fix: problems.map(({ fix }) => fix).join(' '),
  };
}

/** Without the daemon, which alone knows the stored secrets, a key counts as there when the config or the environment has it. */
function readOffline(config: DoctorFacts['config']): readonly ProviderState[] {
  const secrets = { placeholderOf: (_owner: string, key: string) => key, findIn: () => [] };
  const sources = { configured: config.env, secrets, processEnv: process.env };
  return createModelCatalog({
    settings: config.models,
    readKey: ({ keyName = '', baseUrl, keyHeader }) => readModelKey(keyName, baseUrl, sources, keyHeader),
    lists: { read: async () => [], problemOf: () => undefined },
  }).providers();
}
