import type { Command } from 'commander';
import pino, { type Logger } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { Config } from '../../config/config-types.ts';
import type { CliFlags } from '../../config/sources.ts';
import type { EventEnvelope } from '../../events/event.ts';
import { renderLiveEvent } from '../render/live-event.ts';
import { renderStartReport } from '../render/start-report.ts';
import type { CliSession } from '../session.ts';

interface StartFlags extends CliFlags {
  readonly json?: boolean;
}

const quietEvents = new Set<EventEnvelope['type']>([
  'execution-start',
  'execution-progress',
  'execution-log',
  'execution-end',
  'permission-use',
]);

/** Adds `hotcell start`: the daemon in this process, until it is told to end. */
export function registerStart(program: Command, session: CliSession): void {
  program
    .command('start')
    .description('start the daemon; in a terminal it tells what it loads, as a service it logs JSON')
    .option('--host <host>', 'address to listen on (127.0.0.1)')
    .option('--port <port>', 'port to listen on (7420)')
    .option('--plugins <dir...>', 'plugin folders')
    .option('--skills <dir...>', 'skill folders')
    .option('--wasm <dir...>', 'folders of WebAssembly plugins')
    .option('--grant-requested', 'grant whatever plugins ask for: for your own machine only')
    .option('--safe', 'load no plugin (safeMode: all)')
    .option('--log-level <level>', 'debug, info, warn or error')
    .option('--json', 'log JSON lines, also in a terminal')
    .action(async (_options: unknown, command: Command) => {
      const { json, ...flags } = command.optsWithGlobals<StartFlags>();
      const config = session.readConfig(flags);
      const isForPeople = session.io.isTTY && json !== true;
      await serve(session, config, isForPeople ? createPeopleView(session, config) : createServiceView(session, config));
    });
}

/** How the life of a daemon is told. */
interface StartView {
  readonly log: Logger;
  readonly redaction: LogRedaction;
  onEvent(event: EventEnvelope): void;
  /** `url` listens, and every plugin has a state. */
  started(daemon: StartedDaemon): void;
  stopping(): void;
}

type StartedDaemon = Parameters<typeof renderStartReport>[0];

async function serve({ io, version }: CliSession, config: Config, view: StartView): Promise<void> {
  const { startDaemon } = await io.loadDaemon();
  const startedAt = performance.now();
  const daemon = await startDaemon({
    config,
    version,
    listen: true,
    onEvent: view.onEvent,
    log: view.log,
    onRedaction: view.redaction.use,
  });
  const { url = '' } = daemon;
  try {
    const { plugins, tools, approvals } = daemon.parts;
    const openQuestions = approvals.count({ status: 'open' });
    const tookMs = performance.now() - startedAt;
    view.started({ url, version, config, cwd: io.cwd, tookMs, plugins: plugins.list(), tools: tools.list(), openQuestions });
    await untilAborted(io.signal);
    view.stopping();
  } finally {
    await daemon.close('asked to stop');
  }
}

/** Takes secrets out of the log, as soon as the daemon knows them. */
interface LogRedaction {
  use(redact: (json: string) => string): void;
  /** A line of the log with its line break. */
  apply(line: string): string;
}

function createLogRedaction(): LogRedaction {
  let redact = (json: string): string => json;
  return {
    use: (given) => {
      redact = given;
    },
    apply: (line) => `${redact(line.trimEnd())}\n`,
  };
}

function createPeopleView({ io, style, print }: CliSession, config: Config): StartView {
  const level = config.log.level === 'info' ? 'warn' : config.log.level;
  const prettify = prettyFactory({ colorize: io.isTTY, ignore: 'pid,hostname' });
  const redaction = createLogRedaction();
  const write = (line: string) => void io.stderr.write(prettify(redaction.apply(line)) ?? '');
  let isReported = false;
  return {
    redaction,
    log: pino({ level }, { write }),
    // Before the report everything is new, and the report tells it all.
    onEvent: (event) => {
      if (isReported) print(renderLiveEvent(event, style));
    },
    started(daemon) {
      print(renderStartReport(daemon, style));
      isReported = true;
    },
    stopping: () => print(style.dim('Stopping: running calls may end.\n')),
  };
}

function createServiceView({ io }: CliSession, config: Config): StartView {
  const redaction = createLogRedaction();
  const log = pino(
    { level: config.log.level, base: { pid: process.pid } },
    { write: (line: string) => void io.stdout.write(redaction.apply(line)) },
  );
  return {
    redaction,
    log,
    onEvent({ type, subject, data }) {
      const level =
        type === 'plugin-diagnostic' || /^(?:watch|hook)-problem$/.test(type) ? 'warn' : quietEvents.has(type) ? 'debug' : 'info';
      log[level]({ event: type, subject, ...data }, `${type} ${subject}`);
    },
    started: ({ url, version, tookMs, plugins, tools }) =>
      log.info(
        { url, version, durationMs: Math.round(tookMs), plugins: plugins.length, tools: tools.length },
        `listening on ${url}`,
      ),
    stopping: () => log.info('stopping'),
  };
}

function untilAborted(signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal?.aborted === true) resolve();
  signal?.addEventListener('abort', () => resolve(), { once: true });
  return promise;
}
