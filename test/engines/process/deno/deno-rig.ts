import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  BorderAnswer,
  BorderHost,
  BorderRequest,
  BorderView,
  BorderWorkspace,
  LogLine,
} from '../../../../src/border/border.ts';
import { type Limits, resolveLimits } from '../../../../src/config/limits.ts';
import { Deadline } from '../../../../src/engines/deadline.ts';
import type { Engine, Isolation, Program, RunOutcome } from '../../../../src/engines/engine.ts';
import { createDenoEngine, type DenoEngineOptions } from '../../../../src/engines/process/deno/deno-engine.ts';
import { giveWarmCache } from '../../../data-dir.ts';

/** What a call is tried with. */
export interface TryOptions {
  readonly args?: unknown;
  readonly handler?: string;
  readonly limits?: Partial<Limits>;
  readonly isolation?: Isolation;
  readonly cellKey?: string;
  readonly caller?: string;
  readonly key?: string;
  readonly handOver?: boolean;
  readonly view?: () => BorderView;
  readonly answer?: (request: BorderRequest, signal: AbortSignal) => Promise<BorderAnswer>;
  readonly workspace?: () => Promise<BorderWorkspace>;
  readonly dial?: BorderHost['dial'];
  readonly signal?: AbortSignal;
}

/** What a call came to, with what its host saw. */
export type Tried = RunOutcome & {
  readonly logs: readonly LogLine[];
  readonly asked: readonly BorderRequest[];
  /** What it read in vain. */
  readonly deniedNames: readonly string[];
  readonly progress: number;
};

/** An engine in a folder of its own. */
export interface DenoRig {
  readonly engine: Engine;
  readonly dataDir: string;
  /** Runs the handlers of a plugin object, written as source. */
  run(plugin: string, options?: TryOptions): Promise<Tried>;
  close(): Promise<void>;
}

const emptyView: BorderView = { config: {}, env: {}, denied: {} };

/** Starts an engine with a real Deno. */
export function createDenoRig(options: Partial<DenoEngineOptions> = {}): DenoRig {
  const dataDir = realpathSync(mkdtempSync(join(tmpdir(), 'hotcell-deno-')));
  giveWarmCache(dataDir);
  const engine = createDenoEngine({ dataDir, forbiddenSegments: ['.env', 'secrets'], ...options });
  return {
    engine,
    dataDir,
    run: createTrier(engine),
    async close() {
      await engine.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Runs the handlers of plugin objects, written as source, with what a test says. */
export function createTrier(engine: Engine): DenoRig['run'] {
  let count = 0;
  return async (plugin, tried = {}) => {
    const logs: LogLine[] = [];
    const asked: BorderRequest[] = [];
    const deniedNames: string[] = [];
    let progress = 0;
    const host: BorderHost = {
      answer: (request, signal) => {
        asked.push(request);
        return (
          tried.answer?.(request, signal) ?? Promise.resolve({ ok: false, code: 'permission-denied', message: 'Not granted.' })
        );
      },
      view: tried.view ?? (() => emptyView),
      log: (line) => logs.push(line),
      deniedName: (name) => deniedNames.push(name),
      longWait: (operation) => (operation === 'tools.call' ? { whenFull: 'refused' } : undefined),
      progress: () => {
        progress++;
      },
      ...(tried.workspace ? { workspace: tried.workspace } : {}),
      ...(tried.dial ? { dial: tried.dial } : {}),
    };
    const limits = resolveLimits(tried.limits);
    const outcome = await engine.run(
      {
        executionId: `exe_${++count}`,
        program: programOf(plugin, tried.key),
        handler: tried.handler ?? 'default',
        argumentsJson: JSON.stringify(tried.args ?? {}),
        isolation: tried.isolation ?? 'call',
        cellKey: tried.cellKey ?? '',
        limits,
        deadline: new Deadline(limits.wallMs),
        caller: tried.caller ?? 'tester',
        session: 'session-1',
        holder: { callerId: tried.caller ?? 'tester', unitPath: 'tried.ts', isAdmin: false },
        ...(tried.handOver === undefined ? {} : { handOver: tried.handOver }),
      },
      host,
      tried.signal ?? new AbortController().signal,
    );
    return { ...outcome, logs, asked, deniedNames, progress };
  };
}

/** A module whose default export is the given source of a plugin object. */
export function programOf(plugin: string, key = plugin): Program {
  return {
    key,
    label: 'tried.ts',
    readCode: async () => (/\bexport (default|\{)/.test(plugin) ? plugin : `export default ${plugin};`),
    readImage: async () => undefined,
    saveImage: () => undefined,
  };
}

/** The source of a plugin with one handler. */
export function handlerOf(body: string): string {
  return `{ name: 'tried', async handler(args, context) { ${body} } }`;
}
