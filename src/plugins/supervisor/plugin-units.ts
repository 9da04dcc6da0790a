import type { EscalationEngine } from '../../engines/escalation.ts';
import { describeGrantCommand } from '../../permissions/permission-words.ts';
import type { ServedUnit } from '../../units/unit.ts';
import type { UnitContent, UnitSource } from '../../units/unit-registry.ts';
import type { Generation } from '../generations/generation.ts';
import { createLeasable } from '../generations/leases.ts';
import { mayServe } from '../lifecycle.ts';
import type { LookQueue } from './look-queue.ts';
import type { PluginSet } from './plugin-set.ts';
import type { Publisher } from './publisher.ts';
import type { SupervisorRoom } from './supervisor-parts.ts';
import { describeStanding } from './views.ts';

/** Creates the plugins as units: their generations for calls, and what people decide on. */
export function createPluginUnits(
  parts: Pick<SupervisorRoom, 'archive' | 'decideGrants'> & { readonly pluginSet: PluginSet; readonly publisher: Publisher },
) {
  const { archive, pluginSet, publisher, decideGrants } = parts;
  const { queues } = pluginSet;

  /** The generation behind an execution or a published tool. */
  function findGeneration(id: string): Generation | undefined {
    for (const { record } of queues.values()) if (record.live?.generation.id === id) return record.live.generation;
    return archive.find(id);
  }

  function findSame(build: UnitContent | undefined): Generation | undefined {
    const live = build && queues.get(build.unitPath)?.record.live?.generation;
    return live?.contentHash === build?.contentHash ? live : undefined;
  }

  /** Builds what waited for an engine as soon as it may have it. */
  async function grantEscalation(queue: LookQueue): Promise<void> {
    const { escalation } = queue.record;
    if (escalation === undefined || decideGrants(escalation).pending.engine !== undefined) return;
    await queue.reload('its engine was allowed', escalation.author);
  }

  const units: UnitSource = {
    find: (name) => describeStanding(pluginSet.find(name).record, decideGrants),
    list: () => pluginSet.inOrder().map((queue) => describeStanding(queue.record, decideGrants)),
    findServable(id, content) {
      const generation = findGeneration(id) ?? findSame(content);
      const record = generation && queues.get(generation.path)?.record;
      if (!generation || !record || !mayServe(record.lifecycle.state)) return undefined;
      if (record.live?.generation === generation) return record.live.leasable.served;
      const granted: ServedUnit['granted'] = (use) => decideGrants(generation, use).granted;
      return createLeasable({ generation, granted, onDrained: () => {} }).served;
    },
    isLoading: () => queues.values().some(({ record }) => record.lifecycle.state === 'loading'),
    async refreshGrants() {
      const telling = { reason: 'grants changed' };
      await Promise.all(pluginSet.inOrder().map((queue) => queue.run(() => publisher.regrant(queue.record, telling))));
      await Promise.all(pluginSet.inOrder().map(grantEscalation));
    },
  };

  return {
    units,
    findGeneration,
    /** Asks a person to let a plugin have the engine that a call of it needed; says how to let it. */
    async wantEngine({ id }: { readonly id: string }, engine: EscalationEngine, reason: string): Promise<string | undefined> {
      const generation = findGeneration(id);
      const queue = generation && queues.get(generation.path);
      if (generation === undefined || queue === undefined) return undefined;
      const { name, permissions, permissionsSource } = generation.manifest;
      const manifest = { name, permissions: { ...permissions, engine: [engine] } };
      const escalation = { ...generation, permissionsSource, manifest, reason, atRun: true as const };
      const asks = describeGrantCommand(name, decideGrants(escalation).pending);
      await queue.run(() => {
        const { record } = queue;
        if (record.escalation === undefined && record.live?.generation.id === generation.id)
          publisher.apply(record, { type: 'wanted', escalation }, { reason });
      });
      await grantEscalation(queue);
      return `Allow it with: ${asks}, or answer the question: hotcell approve. Then call it again.`;
    },
  };
}
