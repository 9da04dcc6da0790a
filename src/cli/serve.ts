import { prettyFactory } from 'pino-pretty';
import { operatorCaller } from '../callers/caller.ts';
import type { Config } from '../config/config-types.ts';
import type { CliFlags } from '../config/read/sources.ts';
import type { EventEnvelope } from '../events/event.ts';
import { drainMs } from '../operations/daemon-types.ts';
import { createDaemonLog, type DaemonLog } from '../secrets/daemon-log.ts';
import { createLiveCalls } from './render/live-calls.ts';
import { renderLiveEvent, renderWarnings } from './render/live-event.ts';
import { renderStartReport, type StartReport } from './render/start-report.ts';
import type { CliSession } from './session.ts';

const quietEvents = new Set<EventEnvelope['type']>([
  'execution-start',
  'execution-progress',
  'execution-log',
  'execution-end',
  'execution-refusal',
  'permission-use',
]);

/** In which form a start is told. */
interface ServeOptions {
  /** Log lines as JSON, also in a terminal. */
  readonly json: boolean;
  /** In a terminal: nothing of calls, log lines and warnings. */
  readonly quiet: boolean;
}

/** How the life of a daemon is told. */
interface StartView {
  readonly log: DaemonLog;
  /** The least important lines that are shown with this config. */
  readonly levelOf: (config: Config) => string;
  onEvent(event: EventEnvelope): void;
  /** `url` listens, and every plugin has a state. */
  started(daemon: StartedDaemon): void;
  stopping(): void;
}

interface StartedDaemon extends StartReport {
  readonly readError: (executionId: string) => string | undefined;
  /** What is to be said of a plugin that has just changed. */
  readonly readWarnings: (event: Extract<EventEnvelope, { type: 'plugin-change' }>) => readonly string[];
}

/** Runs the daemon in this process until it is told to end. */
export async function serve(session: CliSession, flags: CliFlags, { json, quiet }: ServeOptions): Promise<void> {
  const { io, version } = session;
  const config = await session.readConfig(flags);
  const view = io.isTTY && !json ? createPeopleView(session, config, quiet) : createServiceView(session, config);
  const { startDaemon } = await io.loadDaemon();
  const startedAt = performance.now();
  const daemon = await startDaemon({
    config,
    version,
    listen: true,
    warmUp: true,
    onEvent: view.onEvent,
    log: view.log,
    reread: {
      cwd: io.cwd,
      async readConfig() {
        const fresh = await session.readConfig(flags);
        view.log.logger.level = view.levelOf(fresh);
        return fresh;
      },
    },
  });
  const { url = '' } = daemon;
  try {
    const { plugins, tools, approvals, executions } = daemon.parts;
    const openQuestions = approvals.count({ status: 'open' });
    const tookMs = performance.now() - startedAt;
    view.started({
      passedOver: plugins.passedOver().map(({ reason }) => reason),
      ...{ url, version, config, cwd: io.cwd, tookMs, plugins: plugins.list(), tools: tools.list(), openQuestions },
      readError: (id) => lookFor(() => executions.get(id, operatorCaller).error?.message),
      readWarnings: ({ data }) => lookFor(() => plugins.get(data.path).warnings) ?? [],
    });
    await untilAborted(io.signal);
    view.stopping();
  } finally {
    await daemon.close('asked to stop');
  }
}

/** What an event speaks of may be gone when it is told. */
function lookFor<Found>(find: () => Found): Found | undefined {
  try {
    return find();
  } catch {
    return undefined;
  }
}

function createPeopleView({ io, style, print }: CliSession, config: Config, quiet: boolean): StartView {
  const levelOf = ({ log: { level } }: Config) => (level === 'info' ? 'warn' : level);
  const prettify = prettyFactory({ colorize: io.isTTY, ignore: 'pid,hostname' });
  const write = (line: string) => void io.stderr.write(prettify(line) ?? '');
  let tell = (_event: EventEnvelope): void => {};
  return {
    levelOf,
    log: createDaemonLog({ level: levelOf(config), write }),
    onEvent: (event) => tell(event),
    started(daemon) {
      const calls = createLiveCalls(style, daemon.readError);
      print(renderStartReport(daemon, style));
      // Before the report everything is new, and the report tells it all.
      tell = (event) => {
        const isCall = event.type.startsWith('execution-');
        if (isCall) print(quiet ? '' : calls.render(event));
        else print(renderLiveEvent(event, style));
        if (event.type === 'plugin-change' && !quiet) print(renderWarnings(daemon.readWarnings(event), style));
      };
      const rest = setInterval(() => print(calls.renderRest()), 1000).unref();
      io.signal?.addEventListener('abort', () => clearInterval(rest));
    },
    stopping: () => print(style.dim(`Stopping: running calls may end within ${drainMs / 1000} s; Ctrl-C again ends at once.\n`)),
  };
}

function createServiceView({ io }: CliSession, config: Config): StartView {
  const write = (line: string) => void io.stdout.write(line);
  const log = createDaemonLog({ level: config.log.level, base: { pid: process.pid }, write });
  const { logger } = log;
  return {
    levelOf: (fresh) => fresh.log.level,
    log,
    onEvent({ type, subject, data }) {
      const level =
        type === 'plugin-diagnostic' || /^(?:watch|hook)-problem$/.test(type) || ('problem' in data && data.problem)
          ? 'warn'
          : quietEvents.has(type)
            ? 'debug'
            : 'info';
      logger[level]({ event: type, subject, ...data }, `${type} ${subject}`);
    },
    started: ({ url, version, tookMs, plugins, tools }) =>
      logger.info(
        { url, version, durationMs: Math.round(tookMs), plugins: plugins.length, tools: tools.length },
        `listening on ${url}`,
      ),
    stopping: () => logger.info('stopping'),
  };
}

function untilAborted(signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal?.aborted === true) resolve();
  signal?.addEventListener('abort', () => resolve(), { once: true });
  return promise;
}
