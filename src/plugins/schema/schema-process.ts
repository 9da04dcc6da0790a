import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { codeCacheEnvironment } from '../../config/code-cache.ts';
import { sourceReading } from './read-result.ts';
import { emptyReadResult, type ReadRequest, type SchemaFile, type SchemaReader, type SchemaReadResult } from './schema-types.ts';

const readMs = 1000;
const startMs = 15_000;
// Longer than most pauses between two saves, since a new start costs a tenth of a second.
const idleMs = 600_000;
const maxTotalChars = 2 * 1024 * 1024;
/** So many plugins are with the process at once: it need not be woken for each. */
const maxSent = 8;

/** Bounds of a reader, for tests and for slow machines. */
export interface SchemaReaderOptions {
  /** Time for one plugin, in ms. */
  readonly readMs?: number;
  /** The process ends when it had nothing to do for so long, in ms. */
  readonly idleMs?: number;
}

interface Task {
  readonly request: ReadRequest;
  readonly resolve: (result: SchemaReadResult) => void;
}

/**
 * Makes a reader with one process of its own, started with the first plugin that needs it, and again after a text
 * that took it down. Plugins are read one after the other.
 */
export function createSchemaReader(options: SchemaReaderOptions = {}): SchemaReader {
  const queue: Task[] = [];
  /** What the process has, in the order in which it answers; the deadline is that of the first. */
  const sent: Task[] = [];
  let child: ChildProcess | undefined;
  let isReady = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let nextId = 1;

  function setDeadline(ms: number, onDeadline: () => void): void {
    clearTimeout(timer);
    timer = setTimeout(onDeadline, ms);
    timer.unref();
  }

  function pump(): void {
    if (isClosed) return;
    if (queue.length + sent.length === 0) {
      if (child) setDeadline(options.idleMs ?? idleMs, () => stop());
    } else if (!child) start();
    else if (isReady) for (const task of queue.splice(0, maxSent - sent.length)) send(child, task);
  }

  function send(to: ChildProcess, task: Task): void {
    sent.push(task);
    if (sent.length === 1) startReading();
    to.ref();
    to.channel?.ref();
    to.send(task.request, (error) => {
      if (!error || !sent.includes(task)) return;
      // It ended while it was idle: not the fault of this plugin.
      stop();
      pump();
    });
  }

  function startReading(): void {
    const ms = options.readMs ?? readMs;
    setDeadline(ms, () => giveUp(`reading them took longer than ${ms / 1000} s`));
  }

  function start(): void {
    // No variables of the daemon, since the process parses foreign text and needs none; no TypeScript flags of a test runner.
    const started = fork(readingProcess, {
      env: codeCacheEnvironment(),
      execArgv: ['--max-old-space-size=192'],
      serialization: 'json',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child = started;
    isReady = false;
    setDeadline(startMs, () => giveUp('the reading process did not start'));
    started.on('message', (message) => {
      if (child === started) receive(message);
    });
    started.on('error', () => {
      if (child === started) giveUp('the reading process could not be started');
    });
    // Not at its exit: what it had answered before may not have arrived by then.
    started.on('disconnect', () => {
      if (child === started) giveUp('the parser gave up on them, usually because the code is nested too deeply');
    });
  }

  function receive(message: unknown): void {
    if (message === 'ready') {
      isReady = true;
      goOn();
    } else if (readAnswer.Check(message) && message.id === sent[0]?.request.id) {
      const task = sent.shift();
      if (task) task.resolve(withEntry(message.result, task.request));
      goOn();
    }
  }

  /** Goes on with what waits; an idle process must not keep the daemon, or a command, from ending. */
  function goOn(): void {
    clearTimeout(timer);
    if (sent.length > 0) startReading();
    else {
      child?.unref();
      child?.channel?.unref();
    }
    pump();
  }

  /** Ends the process and answers for the plugin that was being read, or that waited for the start. */
  function giveUp(reason: string): void {
    stop();
    const task = queue.shift();
    const entry = task?.request.entry ?? '';
    const result = emptyReadResult(
      `The types of "${entry}" were not read: ${reason}. Any object is accepted where nothing else is declared.`,
    );
    if (task) task.resolve(withEntry(result, task.request));
    pump();
  }

  /** What it had not answered waits again, before all else. */
  function stop(): void {
    const stopped = child;
    child = undefined;
    isReady = false;
    clearTimeout(timer);
    stopped?.kill('SIGKILL');
    queue.unshift(...sent.splice(0));
  }

  return {
    warm() {
      if (!child && !isClosed) start();
    },
    read(files, entry) {
      if (isClosed) return Promise.resolve(emptyReadResult('The reader is closed.'));
      const known = answerAtOnce(files, entry);
      if (known) return Promise.resolve(known);
      const { promise, resolve } = Promise.withResolvers<SchemaReadResult>();
      queue.push({ request: { id: nextId++, files, entry }, resolve });
      pump();
      return promise;
    },
    async close() {
      isClosed = true;
      const ended = child && child.exitCode === null ? new Promise((resolve) => child?.once('exit', resolve)) : undefined;
      stop();
      for (const task of queue.splice(0)) task.resolve(emptyReadResult('The reader is closed.'));
      await ended;
    },
  };
}

const readAnswer = Compile(Type.Object({ id: Type.Number(), result: sourceReading }));

const readingProcess = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './reading-process.ts' : './reading-process.js', import.meta.url),
);

/** The text stays on this side: it is known, and long. */
function withEntry(result: SchemaReadResult, request: ReadRequest): SchemaReadResult {
  const entry = request.files.find((file) => file.path === request.entry);
  return entry ? { ...result, entry } : result;
}

/** Answers what needs no parser: files that are too large to be read in time. */
function answerAtOnce(files: readonly SchemaFile[], entry: string): SchemaReadResult | undefined {
  const total = files.reduce((sum, file) => sum + file.text.length, 0);
  if (total <= maxTotalChars) return undefined;
  return emptyReadResult(
    `The types of "${entry}" were not read: the plugin has more than ${maxTotalChars / 1024 / 1024} MB of source.`,
  );
}
