import type { Config, Escalation } from '../config/config-types.ts';
import type { EngineName } from '../engines/engine.ts';
import type { EscalationEngine, EscalationEngines } from '../engines/escalation.ts';
import { findDeno, requireDeno } from '../engines/process/deno/find-deno.ts';
import { createDockerClient, describeDockerError } from '../engines/process/docker/docker-client.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
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

/** A socket that takes the question and never answers is no engine. */
const answerMs = 3_000;
const usable = { usable: true } as const;

/** Reads the rules of escalation off the config; what is on this machine is looked up each time. */
export function readEscalationRules(
  config: Pick<Config, 'escalation' | 'pluginEscalation' | 'engines' | 'docker'>,
  { engines, names }: Pick<OpenEngines, 'engines'> & { readonly names: Pick<NameRegistry, 'findSetting'> },
): EscalationRules {
  const { escalation, pluginEscalation } = config;
  const { allow } = config.engines;

  function refuseEngine(engine: EngineName): string | undefined {
    if (allow.some((each) => each === engine)) return undefined;
    return `The config does not allow the engine "${engine}" (engines.allow).`;
  }

  async function findMissing(engine: EscalationEngine): Promise<string | undefined> {
    const refusal = refuseEngine(engine);
    if (refusal !== undefined) return refusal;
    if (engines[engine] === undefined) return `The engine "${engine}" is not part of this daemon.`;
    if (engine === 'deno') return findDeno() === undefined ? describeFailure(requireDeno) : undefined;
    return engine === 'docker' ? findMissingDocker(config.docker) : undefined;
  }

  async function describeEngine(engine: EscalationEngine): Promise<EscalationEngines[EscalationEngine]> {
    const reason = await findMissing(engine);
    return reason === undefined ? usable : { usable: false, reason };
  }

  return {
    async engines() {
      const [quickjs, deno, docker] = await Promise.all([
        describeEngine('quickjs'),
        describeEngine('deno'),
        describeEngine('docker'),
      ]);
      return { quickjs, deno, docker };
    },
    escalationOf: (unitPath) => names.findSetting(unitPath, pluginEscalation) ?? escalation,
    refuseEngine,
    fingerprint: JSON.stringify([escalation, Object.entries(pluginEscalation).sort(), [...allow].sort()]),
  };
}

async function findMissingDocker({ socket, pluginImage }: Config['docker']): Promise<string | undefined> {
  if (pluginImage === '') {
    return 'No image for plugins is named: set docker.pluginImage in the config to one with Node 22 or later, then restart the daemon.';
  }
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('it did not answer in time')), answerMs);
  try {
    const docker = createDockerClient({ socket, env: process.env })();
    await Promise.race([docker.then((client) => client.ping()), late.promise]);
    return undefined;
  } catch (error) {
    const { message, fix } = describeDockerError(error, 'for plugins in containers');
    const reason = `${message} ${fix}`;
    return reason;
  } finally {
    clearTimeout(timer);
  }
}

function describeFailure(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return error instanceof HotcellError ? `${error.message} ${error.fix}` : 'It cannot be started.';
  }
}
