import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StackFrame } from '../../../src/engines/engine.ts';
import { createCompiler } from '../../../src/plugins/compile/compile.ts';
import { createTracer, type TraceArtifacts } from '../../../src/plugins/diagnostics/trace.ts';

const source = `import { boom } from './boom';

export default {
  handler(args: { deep: boolean }) {
    return boom(args);
  },
};
`;
const helper = `interface Unused { a: string }
export function boom(args: unknown): never {
  throw new TypeError('no ' + typeof args);
}
`;

let home: string;
let artifacts: TraceArtifacts;
let frames: StackFrame[];

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'hotcell-trace-')));
  writeFileSync(join(home, 'a.ts'), source);
  writeFileSync(join(home, 'boom.ts'), helper);
  const compiler = createCompiler({ sharedDirs: [], builtins: new Map(), refusedBuiltins: new Map() });
  const result = await compiler.compile({ entry: join(home, 'a.ts'), rootDir: home, pluginDir: home, isFolder: true });
  await compiler.close();
  if (!result.ok) throw new Error(result.diagnostic.message);
  artifacts = result;
  const text = `${result.code}\ntry { __hotcellExports.default.handler({}); } catch (error) { globalThis.stack = error.stack; }`;
  const global: Record<string, unknown> = {};
  global.globalThis = global;
  runInNewContext(text, global, { filename: 'plugin.js' });
  frames = [...String(global.stack).matchAll(/at (?:(\S+) )?\(?plugin\.js:(\d+):(\d+)/g)].map(([, name, line, column]) => ({
    functionName: name ?? '',
    file: 'plugin.js',
    line: Number(line),
    column: Number(column),
  }));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const error = () => ({ code: 'handler-threw' as const, message: 'no object', name: 'TypeError', frames });

describe('createTracer', () => {
  it('names the lines of the plugin, and shows the one that threw', async () => {
    const tracer = createTracer({ readArtifacts: async () => artifacts });
    const traced = await tracer.explain(error(), { id: 'g1' });
    expect(traced.frames.slice(0, 2)).toMatchObject([
      { file: 'boom.ts', line: 3, column: 9, functionName: 'boom' },
      { file: 'a.ts', line: 5, column: 12 },
    ]);
    expect(traced.codeFrame).toContain(`> 3 |   throw new TypeError('no ' + typeof args);`);
    expect(traced).toMatchObject({ code: 'handler-threw', message: 'no object', name: 'TypeError' });
  });

  it('leaves out frames that no file of the plugin explains', async () => {
    const tracer = createTracer({ readArtifacts: async () => artifacts });
    const foreign = [{ file: 'plugin.js', line: 1, column: 1 }, ...frames, { file: 'plugin.js', line: 99_999, column: 1 }];
    const traced = await tracer.explain({ ...error(), frames: foreign }, { id: 'g1' });
    expect(traced.frames.every(({ file }) => file === 'a.ts' || file === 'boom.ts')).toBe(true);
  });

  it('keeps the message when the build is gone, and asks again at the next failure', async () => {
    let reads = 0;
    const tracer = createTracer({
      readArtifacts: async () => {
        reads += 1;
        if (reads === 1) throw new Error('gone');
        return artifacts;
      },
    });
    expect(await tracer.explain(error(), { id: 'g1' })).toMatchObject({ message: 'no object', frames: [] });
    expect((await tracer.explain(error(), { id: 'g1' })).frames.length).toBeGreaterThan(0);
    await tracer.explain(error(), { id: 'g1' });
    expect(reads).toBe(2);
  });

  it('keeps no more maps than it may', async () => {
    const reads: string[] = [];
    const tracer = createTracer({
      cachedMaps: 1,
      readArtifacts: async (id) => {
        reads.push(id);
        return artifacts;
      },
    });
    for (const id of ['a', 'b', 'b', 'a']) await tracer.explain(error(), { id });
    expect(reads).toEqual(['a', 'b', 'a']);
  });
});
