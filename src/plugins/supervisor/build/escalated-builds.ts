import type { Engine, EngineName } from '../../../engines/engine.ts';
import type { EscalationEngine } from '../../../engines/escalation.ts';
import type { PluginSource } from '../../discovery/plugin-source.ts';
import { type Artifacts, hashBytes, type TraceFiles } from '../../generations/artifact-files.ts';
import type { Generation } from '../../generations/generation.ts';
import { holdProgram, programKey } from '../../generations/program.ts';
import type { PluginBuilder } from './builder-types.ts';

interface EngineBuild {
  readonly generation: Generation;
  readonly artifacts: Artifacts;
}

const maxKept = 32;

/** Builds generations for a higher engine than their own, when a call is run again there; what it makes lives in memory alone. */
export function createEscalatedBuilds(parts: {
  readonly builder: Pick<PluginBuilder, 'compileOnly'>;
  readonly engines: Partial<Record<EngineName, Pick<Engine, 'discard'>>>;
  readonly findSource: (pluginPath: string) => PluginSource | undefined;
}) {
  const buildsById = new Map<string, EngineBuild>();
  /** Many calls may reach their limits at once: the code is made once for all of them. */
  const making = new Map<string, Promise<EngineBuild | undefined>>();

  async function make(generation: Generation, engine: EscalationEngine, id: string): Promise<EngineBuild | undefined> {
    const source = parts.findSource(generation.path);
    const compiled = source && (await parts.builder.compileOnly(source, { ...generation.manifest, engine }));
    if (compiled?.contentHash !== generation.contentHash) return undefined;
    const { artifacts } = compiled;
    const { path, manifest, runner } = generation;
    const key = programKey(engine, path, hashBytes(artifacts.code));
    return {
      artifacts,
      generation: {
        ...generation,
        id,
        manifest: { ...manifest, engine },
        runner: { ...runner, engine, program: holdProgram(key, runner.program.label, artifacts) },
      },
    };
  }

  function makeOnce(generation: Generation, engine: EscalationEngine, id: string): Promise<EngineBuild | undefined> {
    const underWay = making.get(id) ?? make(generation, engine, id).finally(() => making.delete(id));
    making.set(id, underWay);
    return underWay;
  }

  function drop(id: string): void {
    const built = buildsById.get(id);
    if (!built || !buildsById.delete(id)) return;
    const { engine, program } = built.generation.runner;
    parts.engines[engine]?.discard({ programKey: program.key });
  }

  return {
    /** The same content for another engine; undefined when the disk holds other content by now, or it does not compile for that. */
    async build(generation: Generation, engine: EscalationEngine): Promise<Generation | undefined> {
      const id = `${generation.id}~${engine}`;
      const built = buildsById.get(id) ?? (await makeOnce(generation, engine, id));
      if (!built) return undefined;
      buildsById.delete(id);
      buildsById.set(id, built);
      const [oldest] = buildsById.keys();
      if (buildsById.size > maxKept && oldest !== undefined) drop(oldest);
      return built.generation;
    },
    /** Source map and sources of such a build. */
    readTrace: (id: string): TraceFiles | undefined => buildsById.get(id)?.artifacts,
    /** Forgets what was built of a generation. */
    forget({ id }: Pick<Generation, 'id'>): void {
      for (const buildId of [...buildsById.keys()]) if (buildId.startsWith(`${id}~`)) drop(buildId);
    },
  };
}
