import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { resolveLimits } from '../../src/config/limits.ts';
import { Deadline } from '../../src/engines/deadline.ts';
import { createQuickJsEngine } from '../../src/engines/quickjs/engine.ts';
import { nodeBuiltins, nodeStandIns, readShapesModule, refusedBuiltins } from '../../src/guests/node-builtins.ts';
import { readOwnZod } from '../../src/guests/own-zod.ts';
import { createCompiler } from '../../src/plugins/compile/compile.ts';
import { explainLoadError } from '../../src/plugins/diagnostics/load-diagnostic.ts';
import { findSource, type PluginSource } from '../../src/plugins/discovery/plugin-source.ts';
import { createSchemaReader } from '../../src/plugins/schema/schema-process.ts';
import type { SchemaReader } from '../../src/plugins/schema/schema-types.ts';
import { createBuilder } from '../../src/plugins/supervisor/build/build.ts';
import type { BuildOutcome } from '../../src/plugins/supervisor/build/builder-types.ts';
import { createDiagnoser } from '../../src/repair/diagnosis/diagnose.ts';
import { classifyCheck, classifyDiagnostic, classifyExecution } from '../../src/repair/failures/classify-failure.ts';
import type { Failure } from '../../src/repair/failures/failure.ts';
import { applyFixers, type FixerOutcome } from '../../src/repair/fixers/apply-fixers.ts';
import { createTypeChecker, usualCheckerBounds } from '../../src/typescript/checker.ts';

/** A plugin as files; the first is its entry or lies in its folder. */
export type PluginTexts = Readonly<Record<string, string>>;

/** One call of a tool, for the check of what a plugin does; no repair sees what should come of it. */
export interface Behaviour {
  readonly tool?: string;
  readonly args: unknown;
  readonly expect: unknown;
}

/** What came of a call. */
export type Answer = { readonly output: unknown } | { readonly failure: Failure };

const limits = resolveLimits();
/** A border that grants nothing. */
const host = {
  answer: async () => ({ ok: false, code: 'permission-denied', message: '' }) as const,
  view: () => ({ config: {}, env: {}, denied: {} }),
  log: () => {},
  progress: () => {},
};

/** Everything that a plugin is built, called, diagnosed and mended with: all real, with no daemon around it. */
export async function openWorkbench(shared: { readonly schemaReader?: SchemaReader } = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hotcell-repair-')));
  const engine = await createQuickJsEngine({ dataDir: folder, workers: { min: 1, max: 1 } });
  const compiler = createCompiler({
    sharedDirs: [],
    builtins: nodeBuiltins,
    standIns: nodeStandIns,
    refusedBuiltins,
    readShapes: readShapesModule,
    readOwnZod,
  });
  const schemaReader = shared.schemaReader ?? createSchemaReader();
  const builder = createBuilder({
    compiler,
    schemaReader,
    engines: { quickjs: engine },
    limits,
  });
  const checker = createTypeChecker(usualCheckerBounds, 'inspect');
  const diagnoser = createDiagnoser({
    checker,
    builder,
    discard: (_source, { programKey }) => engine.discard({ programKey }),
    sharedDirs: () => [],
  });
  const never = new AbortController().signal;
  let count = 0;

  return {
    checker,
    diagnoser,
    /** Writes a plugin into a folder of its own. */
    lay(files: PluginTexts): PluginSource {
      count++;
      const root = join(folder, `plugins-${count}`);
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(dirname(join(root, file)), { recursive: true });
        writeFileSync(join(root, file), text);
      }
      const [name = ''] = (Object.keys(files)[0] ?? '').split('/');
      const source = findSource({ path: root, kind: 'plugins', label: 'plugins' }, name);
      if (source === undefined) throw new Error(`${name} is no plugin`);
      return source;
    },
    build: (source: PluginSource, proposed?: ReadonlyMap<string, string>) => builder.build(source, never, { proposed }),
    async call(
      source: PluginSource,
      built: Extract<BuildOutcome, { ok: true }>,
      { tool, args }: Pick<Behaviour, 'tool' | 'args'>,
    ): Promise<Answer> {
      count++;
      const { tools } = built.manifest;
      const handler = (tools.find(({ name }) => name === tool) ?? tools[0])?.handler ?? 'default';
      const key = `${built.programKey}-${count}`;
      const { code } = built.artifacts;
      const program = {
        key,
        label: source.name,
        readCode: async () => code,
        readImage: async () => undefined,
        saveImage: () => {},
      };
      const outcome = await engine.run(
        {
          executionId: `exe_${count}`,
          program,
          handler,
          argumentsJson: JSON.stringify(args),
          isolation: 'call',
          cellKey: key,
          limits,
          deadline: new Deadline(limits.wallMs),
          caller: 'local',
          session: 'bench',
          holder: { callerId: 'tester', unitPath: source.path, isAdmin: false },
        },
        host,
        never,
      );
      engine.discard({ programKey: key });
      if (outcome.status === 'success') return { output: outcome.output };
      const traced = explainLoadError(outcome.error, built.artifacts);
      const frames = traced.file === undefined ? [] : [{ file: traced.file, line: traced.line ?? 1, column: traced.column ?? 1 }];
      const { code: errorCode, message, name, fix } = { name: undefined, fix: '', ...outcome.error };
      const error = { code: errorCode, message, fix, ...(name === undefined ? {} : { name }), frames };
      const judged = classifyExecution(source.path, { id: `exe_${count}`, tool: handler, status: outcome.status, error });
      return { failure: 'failure' in judged ? judged.failure : classifyCheck(source.path, { said: judged.nobody.reason }) };
    },
    /** What a build or a behaviour says against a plugin; undefined when nothing does. */
    async findFailure(
      source: PluginSource,
      behaviours: readonly Behaviour[],
      proposed?: ReadonlyMap<string, string>,
    ): Promise<Failure | undefined> {
      const built = await this.build(source, proposed);
      if (!built.ok) {
        const judged = classifyDiagnostic(source.path, built.diagnostic);
        return 'failure' in judged ? judged.failure : classifyCheck(source.path, { said: judged.nobody.reason });
      }
      for (const behaviour of behaviours) {
        const answer = await this.call(source, built, behaviour);
        if ('failure' in answer) return answer.failure;
        if (JSON.stringify(answer.output) !== JSON.stringify(behaviour.expect)) {
          return classifyCheck(source.path, { tool: behaviour.tool ?? 'default', said: 'The output is another one.' });
        }
      }
      return undefined;
    },
    /** Asks the fixers, and says how long it took from the failure to what they propose. */
    async mend(source: PluginSource, failure: Failure): Promise<FixerOutcome & { readonly ms: number }> {
      const start = performance.now();
      const diagnosis = await diagnoser.diagnose({ source, name: source.name, failure, signal: never });
      const outcome = await applyFixers(diagnosis, { checker, check: diagnoser.check, signal: never });
      return { ...outcome, ms: performance.now() - start };
    },
    async close() {
      await checker.close();
      await engine.close();
      await compiler.close();
      if (shared.schemaReader === undefined) await schemaReader.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
