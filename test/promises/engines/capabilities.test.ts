import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nameWorkspace } from '../../../src/capabilities/files/workspaces.ts';
import { startModelServer } from '../../models/model-server.ts';
import { allowedPath, refusedPaths } from '../permission-cases.ts';
import { capabilityCases } from './capability-cases.ts';
import { type EngineHouse, openEngineHouse } from './engine-house.ts';
import { engineSubjects, isPresent, presentSubjects, type Step } from './subjects.ts';

const subjects = presentSubjects(engineSubjects);
const helper = `export default { name: 'helper', description: 'Helps.', permissions: {}, handler: () => 'helped' };\n`;
let world: EngineHouse;
let models: Awaited<ReturnType<typeof startModelServer>>;

beforeAll(async () => {
  models = await startModelServer();
  process.env.HOTCELL_PROBED = 'of the daemon';
  process.env.ELSEWHERE = 'of the machine';
  world = await openEngineHouse({
    subjects,
    plugins: { 'helper.ts': helper },
    config: {
      env: { PLAIN_SETTING: 'a plain value' },
      models: { default: 'small', maxTokens: 50, providers: { small: { baseUrl: models.baseUrl, model: 'm-1' } } },
    },
  });
}, 60_000);
afterAll(async () => {
  delete process.env.HOTCELL_PROBED;
  delete process.env.ELSEWHERE;
  await world.close();
  await models[Symbol.asyncDispose]();
});

const ask = (...args: Parameters<EngineHouse['tryAs']>) => world.tryAs(...args);

describe.each(subjects.map((subject) => [subject.title, subject] as const))('a guest of %s', (title, subject) => {
  it.each(capabilityCases.filter(({ needs }) => isPresent(needs)).map((each) => [each.what, each] as const))(
    'needs a grant %s',
    async (_what, { step, denied, code, allowed, before, answers }) => {
      if (before) expect(await ask(subject, { read: ['.'], write: ['.'] }, [before])).toMatchObject([{ ok: true }]);
      expect(await ask(subject, denied, [step])).toMatchObject([{ ok: false, code }]);
      expect(JSON.stringify(await ask(subject, allowed, [step]))).toContain(answers);
    },
  );

  it('gets no path that leads out of its workspace or carries a forbidden name, and any other', async () => {
    const operations = ['read', 'list', 'write', 'delete'];
    const steps = (path: string) =>
      operations.map((op): Step => ({ op: `files.${op}`, payload: { path, ...(op === 'write' ? { text: 'x' } : {}) } }));
    const answers = await ask(subject, { read: ['.'], write: ['.'] }, [
      ...refusedPaths.flatMap(steps),
      { op: 'files.write', payload: { path: allowedPath, text: 'allowed' } },
      { op: 'files.read', payload: { path: allowedPath } },
    ]);
    const refused = refusedPaths.flatMap((path, index) =>
      operations.map((op, nth) => [path, op, Object(answers[index * operations.length + nth]).code]),
    );
    expect(refused.filter(([, , code]) => code !== 'file-refused')).toEqual([]);
    expect(answers.at(-2)).toMatchObject({ ok: true });
    expect(JSON.stringify(answers.at(-1))).toContain('allowed');
  });

  it('follows no link of its workspace, and opens the file beside it', async () => {
    const { id, call } = await world.makeCaller(`linked-${title}`);
    const workspace = join(world.folder, '.hotcell', 'workspaces', nameWorkspace(id));
    mkdirSync(workspace, { recursive: true });
    const outside = join(world.folder, 'outside.txt');
    writeFileSync(outside, 'of the host');
    symlinkSync(outside, join(workspace, 'soft'));
    symlinkSync(world.folder, join(workspace, 'folder'));
    linkSync(outside, join(workspace, 'hard'));
    writeFileSync(join(workspace, 'plain'), 'of the caller');
    const paths = ['soft', 'hard', 'folder/outside.txt'];
    const steps = paths.flatMap((path): Step[] => [
      { op: 'files.read', payload: { path } },
      { op: 'files.write', payload: { path, text: 'changed' } },
    ]);
    const plain = { op: 'files.read', payload: { path: 'plain' } };
    const answers = await ask(subject, { read: ['.'], write: ['.'] }, [...steps, plain], call);
    expect(answers.slice(0, -1).map((answer) => Object(answer).code)).toEqual(steps.map(() => 'file-refused'));
    expect(JSON.stringify(answers.at(-1))).toContain('of the caller');
    expect(readFileSync(outside, 'utf8')).toBe('of the host');
  });

  it('reads no variable of the machine but by its name and grant, and none of the daemon', async () => {
    const get = (name: string): Step => ({ op: 'env.get', payload: { name } });
    const steps = ['ELSEWHERE', 'HOTCELL_PROBED', 'constructor', '__proto__'].map(get);
    const nothing = await ask(subject, {}, steps);
    const granted = await ask(subject, { env: ['ELSEWHERE'] }, steps);
    expect(nothing.map((answer) => Object(answer).value || null)).toEqual([null, null, null, null]);
    expect(granted.map((answer) => Object(answer).value || null)).toEqual(['of the machine', null, null, null]);
    await expect(ask(subject, { env: ['HOTCELL_PROBED'] }, steps)).rejects.toThrow('belongs to the daemon');
  });

  it('is refused by name what no daemon has', async () => {
    const steps: Step[] = [
      { op: 'skill', payload: { name: 'x' } },
      { op: 'agent.pushTask', payload: {} },
    ];
    const answers = await ask(subject, { tools: ['*'], kv: true }, steps);
    expect(answers).toMatchObject(steps.map(() => ({ ok: false, code: 'not-supported' })));
  });
});
