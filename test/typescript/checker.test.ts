import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CheckerBounds, createTypeChecker, usualCheckerBounds } from '../../src/typescript/checker.ts';

function openChecker(bounds: Partial<CheckerBounds> = {}) {
  const checker = createTypeChecker({ ...usualCheckerBounds, ...bounds });
  onTestFinished(() => checker.close());
  return {
    ...checker,
    run: (text: string, callerId = 'a', signal = new AbortController().signal) =>
      checker.check({ files: [{ name: 'script.ts', text }], emit: 'script.ts' }, { callerId, signal }),
  };
}

/** Each of the types asks for all pairs of the one before: no machine gets to the end of it. */
const endless = `type Grow<T extends unknown[]> = T['length'] extends 40 ? T : Grow<[...T, unknown]> | Grow<[unknown, ...T, 0]> | Grow<[1, ...T]>;
const found: Grow<[]> = null as never; export default found;`;

describe('createTypeChecker', () => {
  it('tells the line, the column and the near name, and gives the JavaScript with its lines where they were', async () => {
    const { run } = openChecker();
    const { diagnostics, javascript } = await run(`const cities: string[] = ['Rome'];\nexport default cities.lenght;`);
    expect(diagnostics).toMatchObject([{ file: 'script.ts', line: 2, column: 23, code: 2551 }]);
    expect(diagnostics[0]?.message).toContain("Did you mean 'length'?");
    expect(javascript?.split('\n')[1]).toBe('export default cities.lenght;');
    expect((await run('enum Size { Small = 1 }\nexport default Size.Small;')).javascript).toContain('Size["Small"] = 1');
    expect((await run('const = 5;')).diagnostics[0]).toMatchObject({ line: 1, column: 7 });
  });

  it('reads no file of the machine and keeps nothing of what it checked before', async () => {
    const { check, run } = openChecker();
    const by = { callerId: 'a', signal: new AbortController().signal };
    await check({ files: [{ name: 'types.d.ts', text: 'declare const secret: string;' }] }, by);
    for (const text of [
      'export default secret;',
      `/// <reference path="/etc/passwd" />\nexport default 1;`,
      `import '/etc/passwd';\nexport default 1;`,
      `import { readFileSync } from 'node:fs';\nexport default readFileSync;`,
      `import ts from 'typescript';\nexport default ts;`,
      `import { defineTool } from '${fileURLToPath(new URL('../../src/plugin.ts', import.meta.url))}';\nexport default defineTool;`,
    ]) {
      const { diagnostics } = await run(text);
      expect(diagnostics, text).toHaveLength(1);
      expect(diagnostics[0]?.message, text).not.toContain('root:');
    }
  });

  it('reads no declaration of the machine that a text refers to by its path', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hotcell-types-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'secret.d.ts');
    writeFileSync(file, "declare const secret: 'root:x';");
    const { diagnostics } = await openChecker().run(
      `/// <reference path="${file}" />\nconst own: 1 = secret;\nexport default own;`,
    );
    expect(diagnostics.length).toBeGreaterThan(0);
    expect(JSON.stringify(diagnostics)).not.toContain('root:x');
  });

  it('ends a check that is too much, and goes on with the next one on a new thread', async () => {
    const { run } = openChecker({ maxCheckMs: 1500 });
    const [bad, good] = await Promise.allSettled([run(endless), run('export default 1;', 'b')]);
    expect(bad).toMatchObject({ status: 'rejected' });
    expect(bad.status === 'rejected' && bad.reason).toMatchObject({ code: expect.stringMatching(/^(time|memory)-exceeded$/) });
    expect(good).toMatchObject({ status: 'fulfilled', value: { diagnostics: [] } });
  });

  it('takes callers in turn, lets so many of one wait, and forgets those that gave up', async () => {
    const { run } = openChecker({ maxWaitingPerCaller: 2 });
    const giving = new AbortController();
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    const all = [
      run('export default 1;').then(note('a1')),
      run('export default 2;').then(note('a2')),
      run('export default 3;', 'b').then(note('b1')),
      run('export default 4;', 'c', giving.signal).catch(note('gave up')),
    ];
    await expect(run('export default 5;')).rejects.toMatchObject({ code: 'queue-full' });
    giving.abort();
    await Promise.all(all);
    expect(order).toEqual(['gave up', 'a1', 'b1', 'a2']);
  });

  it('ends its thread when nothing came for a while, and starts another one for the next check', async () => {
    const threads: { worker: Worker; isOver: Promise<unknown> }[] = [];
    const onThread = (message: unknown): void => {
      const { worker } = message as { worker: Worker };
      threads.push({ worker, isOver: once(worker, 'exit') });
    };
    subscribe('worker_threads', onThread);
    onTestFinished(() => void unsubscribe('worker_threads', onThread));
    const { run } = openChecker({ idleMs: 20 });
    expect((await run('export default 1;')).diagnostics).toEqual([]);
    expect(threads).toHaveLength(1);
    await threads[0]?.isOver;
    expect((await run('export default 2;')).diagnostics).toEqual([]);
    expect(threads).toHaveLength(2);
    await threads[1]?.isOver;
  });

  it('closes while checks wait', async () => {
    const { run, close } = openChecker();
    const waiting = run('export default 1;');
    const refused = expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    await close();
    await refused;
  });
});
