import type { RepairSettings } from '../config/settings/repair-settings.ts';
import type { Generation } from '../plugins/generations/generation.ts';
import type { PluginMending } from '../plugins/supervisor/mending.ts';
import { classifyCheck } from './failures/classify-failure.ts';
import type { Failure } from './failures/failure.ts';
import type { TrialCheck, TrialReport, TryProposal } from './trial/trial.ts';

/** What the last health check of a plugin said. */
export interface PluginHealth {
  readonly outcome: 'passed' | 'failed' | 'not-tried';
  readonly detail: string;
  readonly atMs: number;
}

const waitForSettingMs = 60_000;

/** The health checks of plugins that have one. */
export type HealthChecks = ReturnType<typeof createHealthChecks>;

/** Creates the checks: each runs as a trial of the plugin as it is, in cells of its own, where nothing real is touched. */
export function createHealthChecks(parts: {
  readonly settings: () => Pick<RepairSettings, 'healthMs'>;
  readonly mending: Pick<PluginMending, 'paths' | 'find'>;
  readonly tryProposal: TryProposal;
  /** Hears of a check that did not come out, of a plugin that was well before. */
  readonly onFailure: (failure: Failure) => void;
  readonly now: () => number;
  readonly onFault: (error: unknown) => void;
}) {
  const { settings, mending, onFault } = parts;
  const healthByPath = new Map<string, PluginHealth & { readonly generation: string }>();
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();

  /** A trial of the plugin as it is; undefined where nothing of its own serves. */
  async function tryAsItIs(path: string, isMeant: (live: Generation) => boolean) {
    const standing = mending.find(path);
    const live = standing?.live;
    if (standing === undefined || live === undefined || standing.isPinned || !isMeant(live)) return undefined;
    const proposal = { files: new Map<string, string>(), by: 'health', sureness: 'sure', note: 'The plugin as it is.' } as const;
    const failure = classifyCheck(path, { tool: '', said: 'A check failed.' });
    const { source } = standing;
    const { signal } = closing;
    const report = await parts.tryProposal({ source, proposal, diagnosed: live, failure, signal });
    report.candidate?.release();
    const health = { ...readHealth(report), atMs: parts.now(), generation: live.id };
    if (hasHealthcheck(live)) healthByPath.set(path, health);
    return { report, health };
  }

  async function checkOne(path: string): Promise<void> {
    const before = healthByPath.get(path);
    const { health } = (await tryAsItIs(path, hasHealthcheck)) ?? {};
    const isKnown = before?.outcome === 'failed' && before.generation === health?.generation;
    if (health?.outcome === 'failed' && !isKnown) parts.onFailure(classifyCheck(path, { said: health.detail }));
  }

  /** Checks all of them now, one after the other. */
  async function checkAll(): Promise<void> {
    const paths = mending.paths();
    for (const path of healthByPath.keys()) if (!paths.includes(path)) healthByPath.delete(path);
    for (const path of paths) {
      if (closing.signal.aborted) return;
      await checkOne(path).catch((error: unknown) => {
        if (!closing.signal.aborted) onFault(error);
      });
    }
  }

  function arm(): void {
    const { healthMs } = settings();
    timer = setTimeout(() => {
      if (healthMs > 0 && settings().healthMs > 0) round = checkAll();
      round.then(arm, onFault);
    }, healthMs || waitForSettingMs);
    timer.unref();
  }

  return {
    start: arm,
    checkAll,
    healthOf: (path: string): PluginHealth | undefined => healthByPath.get(path),
    /** Asks the health check and the examples of a plugin now; the failure that they show, if any. */
    async findFailure(path: string): Promise<Failure | undefined> {
      const { report, health } = (await tryAsItIs(path, () => true)) ?? {};
      if (health?.outcome === 'failed') return classifyCheck(path, { said: health.detail });
      const example = report?.checks.find(({ name, outcome }) => name === 'examples' && outcome === 'failed');
      return example && classifyCheck(path, { tool: /^\S+/.exec(example.detail)?.[0] ?? '', said: example.detail });
    },
    async close(): Promise<void> {
      closing.abort();
      clearTimeout(timer);
      await round;
    },
  };
}

function hasHealthcheck({ manifest }: Generation): boolean {
  return manifest.hooks.healthcheck === true;
}

function readHealth({ checks }: TrialReport): Pick<PluginHealth, 'outcome' | 'detail'> {
  const check = checks.find(({ name }) => name === 'healthcheck') ?? checks.find(({ name }) => name === 'time');
  const { outcome, detail } = check === undefined ? { outcome: 'not-tried' as const, detail: '' } : readCheck(check);
  return { outcome, detail: detail.slice(0, 500) };
}

/** A trial compares two: of one and the same that does not pass, it says that it did not before either. What needs the world is not told from that. */
function readCheck({ outcome, detail, fault, wasRefused }: TrialCheck): Pick<PluginHealth, 'outcome' | 'detail'> {
  return fault !== undefined && wasRefused !== true ? { outcome: 'failed', detail: fault } : { outcome, detail };
}
