import type { Config, Escalation } from '../config/config-types.ts';
import { scriptEngineNames } from '../config/engine-names.ts';
import type { EngineName } from '../engines/engine.ts';
import type { EngineState, EscalationEngine, EscalationEngines } from '../engines/escalation.ts';
import type { NameRegistry } from '../names/name-registry.ts';
import type { OpenEngines } from './engines.ts';

/** What of the operator's config and of this machine decides which engine runs a plugin. */
export interface EscalationRules {
  engines(): Promise<EscalationEngines>;
  escalationOf(unitPath: string): Escalation;
  /** Why no plugin may run on an engine. */
  refuseEngine(engine: EngineName): string | undefined;
  /** Another text when other engines are allowed: builds that were made under other rules are made again. */
  readonly fingerprint: string;
}

/** Reads the rules of escalation off the config; what is on this machine is looked up each time. */
export function readEscalationRules(
  config: Pick<Config, 'escalation' | 'pluginEscalation' | 'engines'>,
  { engines, names }: Pick<OpenEngines, 'engines'> & { readonly names: Pick<NameRegistry, 'findSetting'> },
): EscalationRules {
  const { escalation, pluginEscalation } = config;
  const { allow } = config.engines;

  function refuseEngine(engine: EngineName): string | undefined {
    if (allow.some((each) => each === engine)) return undefined;
    return `The config does not allow the engine "${engine}" (engines.allow).`;
  }

  async function describeEngine(name: EscalationEngine): Promise<[EscalationEngine, EngineState][]> {
    const engine = engines[name];
    const { script } = engine;
    if (script === undefined) return [];
    const reason = refuseEngine(name) ?? (await engine.findMissing?.());
    return [[name, reason === undefined ? { ...script, usable: true } : { ...script, usable: false, reason }]];
  }

  return {
    engines: async () => new Map((await Promise.all(scriptEngineNames.map(describeEngine))).flat()),
    refuseEngine,
    escalationOf: (unitPath) => names.findSetting(unitPath, pluginEscalation) ?? escalation,
    fingerprint: JSON.stringify([escalation, Object.entries(pluginEscalation).sort(), [...allow].sort()]),
  };
}
