import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BorderAnswer, BorderHost, BorderProgress, BorderRequest, LogLine } from '../../../src/border/border.ts';
import { defaultLimits, type Limits } from '../../../src/config/limits.ts';
import { Deadline } from '../../../src/engines/deadline.ts';
import type { Engine, Isolation, Program, RunOutcome } from '../../../src/engines/engine.ts';
import type { WaitingBounds } from '../../../src/engines/quickjs/suspend/waiting-memory.ts';
import { giveWarmCache } from '../../data-dir.ts';
import { openSharedQuickJs } from '../../kept-threads.ts';

/** A real engine with a scripted daemon behind it. */
export interface CellEngine {
  readonly engine: Engine;
  readonly dataDir: string;
  readonly logs: LogLine[];
  readonly warnings: string[];
  readonly progress: BorderProgress[];
  readonly killed: string[];
  /** Keys of programs whose kept cells were lost, and why. */
  readonly losses: Array<readonly [programKey: string, reason: string]>;
  /** Loads the plugin object written as JavaScript; returns its program. */
  load(plugin: string): Promise<Program>;
  call(program: Program, options?: CallOptions): Promise<RunOutcome>;
  close(): Promise<void>;
}

/** How one call differs from the usual. */
export interface CallOptions {
  readonly handler?: string;
  readonly caller?: string;
  readonly args?: unknown;
  readonly limits?: Partial<Limits>;
  readonly isolation?: Isolation;
  readonly cellKey?: string;
  readonly handOver?: boolean;
  readonly signal?: AbortSignal;
  readonly answer?: (request: BorderRequest, signal: AbortSignal) => Promise<BorderAnswer>;
  readonly config?: Record<string, unknown>;
}

let programs = 0;
let executions = 0;

/** Starts an engine in a data folder of its own. */
export async function startCellEngine(workers = { min: 2, max: 4 }, waiting?: WaitingBounds): Promise<CellEngine> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hotcell-engine-'));
  giveWarmCache(dataDir);
  const logs: LogLine[] = [];
  const warnings: string[] = [];
  const progress: BorderProgress[] = [];
  const killed: string[] = [];
  const losses: Array<readonly [string, string]> = [];
  const engine = await openSharedQuickJs({
    dataDir,
    workers,
    ...(waiting && { waiting }),
    onKill: (key) => killed.push(key),
    onCellLost: (key, reason) => losses.push([key, reason]),
  });
  return {
    engine,
    dataDir,
    logs,
    warnings,
    progress,
    killed,
    losses,
    load: (plugin) => loadProgram(engine, plugin),
    call: (program, options = {}) => runCall(engine, { logs, warnings, progress }, program, options),
    close: async () => {
      await engine.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function loadProgram(engine: Engine, plugin: string): Promise<Program> {
  const code = `globalThis.__hotcellExports = { default: ${plugin} };`;
  const key = `program-${++programs}`;
  const result = await engine.load({ key, label: key, code, limits: defaultLimits });
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return { key, label: key, readCode: async () => code, readImage: async () => undefined, saveImage: () => {} };
}

function runCall(
  engine: Engine,
  { logs, warnings, progress }: Pick<CellEngine, 'logs' | 'warnings' | 'progress'>,
  program: Program,
  options: CallOptions,
): Promise<RunOutcome> {
  const limits = { ...defaultLimits, ...options.limits };
  const host: BorderHost = {
    answer: options.answer ?? (async (request) => ({ ok: true, payload: JSON.stringify({ op: request.op }) })),
    view: () => ({ config: options.config ?? {}, env: {}, denied: {} }),
    log: (line) => logs.push(line),
    warn: (text) => warnings.push(text),
    progress: (report) => progress.push(report),
  };
  return engine.run(
    {
      executionId: `exe-${++executions}`,
      program,
      handler: options.handler ?? 'default',
      argumentsJson: JSON.stringify(options.args ?? {}),
      isolation: options.isolation ?? 'call',
      cellKey: options.cellKey ?? '',
      limits,
      deadline: new Deadline(limits.wallMs),
      caller: options.caller ?? 'tester',
      session: 's1',
      holder: { callerId: 'tester', unitPath: 'tried.ts', isAdmin: false },
      ...(options.handOver === undefined ? {} : { handOver: options.handOver }),
    },
    host,
    options.signal ?? new AbortController().signal,
  );
}

/** The output of a call that must have succeeded. */
export function outputOf(outcome: RunOutcome): unknown {
  if (outcome.status !== 'success') throw new Error(`${outcome.status}: ${outcome.error.code}: ${outcome.error.message}`);
  return outcome.output;
}
