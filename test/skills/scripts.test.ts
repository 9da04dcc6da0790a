import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import { nameWorkspace } from '../../src/capabilities/files/workspaces.ts';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { describeDocker, testImages } from '../engines/process/docker/docker-machine.ts';
import { startSmallDaemon } from '../small-daemon.ts';
import { makeSkillFolder, page } from './skill-house.ts';

const operator: Caller = { id: 'local', role: 'admin' };
const summarize = `#!/usr/bin/env python3
import os, sys, pathlib
total = sum(int(line) for line in pathlib.Path(sys.argv[1]).read_text().split())
template = pathlib.Path(os.environ['SKILL_DIR'], 'assets', 'template.txt').read_text()
pathlib.Path('out').mkdir(exist_ok=True)
pathlib.Path('out/sum.txt').write_text(template.strip() + ' ' + str(total))
pathlib.Path(os.environ['SKILL_DIR'], 'assets', 'template.txt').write_text('changed inside')
print('sum', total)
print('note', file=sys.stderr)
`;

let folder: ReturnType<typeof makeSkillFolder>;
let house: Awaited<ReturnType<typeof startSmallDaemon>>;

async function start(settings = {}) {
  folder = makeSkillFolder({
    'sums/SKILL.md': page('sums', 'networkConfig:\n  allowedDomains: [api.example.com, "not a host"]\n'),
    'sums/scripts/summarize.py': summarize,
    'sums/scripts/hello.js': 'console.log("hello", process.argv.slice(2).join("|"), process.cwd())',
    'sums/scripts/fail.sh': 'echo no >&2; exit 3',
    'sums/scripts/odd.xyz': 'x',
    'sums/assets/template.txt': 'The sum is\n',
  });
  house = await startSmallDaemon(
    {},
    {
      skillDirs: [folder.dir],
      docker: {
        images: [],
        commands: { python3: testImages.python, node: testImages.node, sh: testImages.box },
        timeoutMs: 20_000,
        warm: { perImage: 0 },
      },
      ...settings,
    },
  );
}

async function stop(): Promise<void> {
  await house.close();
  folder.remove();
}

function operation(name: string): Operation {
  const found = house.daemon.operations.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no operation ${name}`);
  return found;
}

async function invoke(name: string, input: object, caller = operator): Promise<unknown> {
  return operation(name).handle(input, { caller, signal: new AbortController().signal });
}

async function refusal(running: Promise<unknown>): Promise<HotcellError> {
  const error: unknown = await running.then(
    (value) => new Error(`not refused: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof HotcellError) return error;
  throw error;
}

async function approve(more: object = {}): Promise<unknown> {
  const { contentHash } = await house.parts.skills.get('sums');
  return invoke('skills.approve', { name: 'sums', contentHash, ...more });
}

const toolNames = () => house.parts.tools.list().flatMap(({ name, source }) => (source === 'skill' ? [name] : []));

describeDocker('skills.run', () => {
  beforeAll(() => start());
  afterAll(stop);

  it('runs nothing that nobody approved, although all that plugins request is granted', async () => {
    expect(toolNames()).toEqual([]);
    const error = await refusal(invoke('skills.run', { name: 'sums', script: 'hello.js' }));
    expect(error.code).toBe('permission-denied');
    expect(error.fix).toContain('hotcell skill approve sums hello.js');
  });

  it('runs an approved script with the files of the skill beside those of the workspace', async () => {
    expect(await approve({ scripts: ['summarize.py', 'hello.js'] })).toMatchObject({
      items: [
        { name: 'fail.sh', isApproved: false },
        { name: 'hello.js', isApproved: true },
        { name: 'odd.xyz', isApproved: false },
        { name: 'summarize.py', isApproved: true, tool: 'sums.summarize.py' },
      ],
    });
    expect(toolNames()).toEqual(['sums.hello.js', 'sums.summarize.py']);
    const workspace = join(house.parts.config.dataDir, 'workspaces', nameWorkspace('local'));
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, 'numbers.txt'), '40\n2\n');
    const input = { name: 'sums', script: 'summarize.py', args: ['numbers.txt'], files: ['numbers.txt'] };
    expect(await invoke('skills.run', input)).toMatchObject({
      status: 'success',
      output: { exitCode: 0, stdout: 'sum 42\n', stderr: 'note\n', files: ['out/sum.txt'] },
    });
    expect(readFileSync(join(workspace, 'out', 'sum.txt'), 'utf8')).toBe('The sum is 42');
    // What it wrote into its own files stayed in the container.
    expect(readFileSync(join(folder.dir, 'sums', 'assets', 'template.txt'), 'utf8')).toBe('The sum is\n');
  });

  it('is a tool like any other: called by its name, recorded, with its log', async () => {
    const answer = await house.call('sums.hello.js', { args: ['$(id)', 'a b'] });
    expect(answer.output).toMatchObject({ stdout: 'hello $(id)|a b /workspace\n' });
    expect(house.parts.executions.get(answer.executionId, operator)).toMatchObject({
      tool: 'sums.hello.js',
      plugin: 'skill:sums',
      status: 'success',
    });
    expect((await house.parts.caller.readLogs(answer.executionId)).map(({ text }) => text)).toEqual([
      'hello $(id)|a b /workspace',
    ]);
    expect(await invoke('tools.get', { ref: 'sums.hello.js' })).toMatchObject({ source: 'skill' });
  });

  it('does not let a file of the workspace stand for one of the skill', async () => {
    const workspace = join(house.parts.config.dataDir, 'workspaces', nameWorkspace('local'));
    mkdirSync(join(workspace, '.skill', 'scripts'), { recursive: true });
    writeFileSync(join(workspace, '.skill', 'scripts', 'hello.js'), 'console.log("somebody else")');
    const answer = await house.call('sums.hello.js', { files: ['.skill'] });
    expect(answer.output).toMatchObject({ stdout: 'hello  /workspace\n' });
  });

  it.each([
    ['image', { image: 'alpine' }],
    ['interpreter', { interpreter: 'sh' }],
    ['env', { env: { PYTHONPATH: '/x' } }],
  ])('lets no caller choose %s', async (_what, more) => {
    expect((await refusal(house.call('sums.hello.js', more))).code).toBe('arguments-invalid');
  });

  it('hides scripts from keys that do not see their tools', async () => {
    const stranger: Caller = { id: 'key_1', role: 'caller', tools: ['weather'] };
    expect((await refusal(invoke('skills.run', { name: 'sums', script: 'hello.js' }, stranger))).code).toBe('skill-unknown');
    const caller: Caller = { id: 'key_2', role: 'caller', tools: ['sums.*'] };
    expect(await invoke('skills.run', { name: 'sums', script: 'hello.js' }, caller)).toMatchObject({ status: 'success' });
  });

  it('says what cannot run and what is not there', async () => {
    expect((await refusal(invoke('skills.run', { name: 'sums', script: 'odd.xyz' }))).code).toBe('command-missing');
    expect((await refusal(invoke('skills.run', { name: 'sums', script: '../SKILL.md' }))).code).toBe('skill-unknown');
    expect((await refusal(invoke('skills.run', { name: 'sum', script: 'hello.js' }))).message).toContain('Did you mean "sums"');
  });
});

describeDocker('skills.approve', () => {
  beforeEach(() => start({ grantRequested: false }));
  afterEach(stop);

  it('holds for the very content: any change of any file takes it back, and the old content has it again', async () => {
    await approve({ runOnly: true });
    expect(await house.call('sums.hello.js')).toMatchObject({ status: 'success' });
    const file = join(folder.dir, 'sums', 'assets', 'template.txt');
    appendFileSync(file, 'x');
    // Between two looks the tool is still there; what it would run is read again and refused.
    expect(await house.call('sums.hello.js')).toMatchObject({
      status: 'error',
      error: { code: 'permission-denied', message: expect.stringContaining('changed since its scripts were approved') },
    });
    // That call had the folders looked at again.
    await house.parts.skills.refresh();
    expect(toolNames()).toEqual([]);
    writeFileSync(file, 'The sum is\n');
    await house.parts.skills.refresh();
    expect(toolNames()).toEqual(['sums.fail.sh', 'sums.hello.js', 'sums.summarize.py']);
    const told = house.events.flatMap(({ type, data }) => (type === 'tools-change' ? [data] : []));
    expect(told).toContainEqual(expect.objectContaining({ removed: expect.arrayContaining(['sums.hello.js@0.0.0']) }));
  });

  it('is refused when the files are others than those that were looked at', async () => {
    const error = await refusal(invoke('skills.approve', { name: 'sums', contentHash: '0'.repeat(64) }));
    expect(error.code).toBe('conflict');
  });

  it('grants the workspace and the hosts that the skill names, or nothing but to run', async () => {
    expect(await approve({ scripts: ['hello.js'], runOnly: true })).toMatchObject({ granted: 'run=hello.js' });
    expect(await approve({ scripts: ['hello.js'] })).toMatchObject({
      granted: 'net=api.example.com read=. write=. run=hello.js',
      pending: 'run=fail.sh run=summarize.py',
    });
  });

  it('is refused in safe mode, where no script is a tool', async () => {
    await approve();
    const safe = await startSmallDaemon({}, { skillDirs: [folder.dir], safeMode: 'dangerous' });
    const { contentHash } = await safe.parts.skills.get('sums');
    const approving = safe.daemon.operations.find(({ name }) => name === 'skills.approve');
    const context = { caller: operator, signal: new AbortController().signal };
    const run = async () => approving?.handle({ name: 'sums', contentHash }, context);
    expect((await refusal(run())).code).toBe('tool-off');
    expect(safe.parts.tools.list().filter(({ source }) => source === 'skill')).toEqual([]);
    await safe.close();
  });

  it('is also given by the answer to the question that every door shows', async () => {
    const deadline = Date.now() + 10_000;
    const find = () => house.parts.approvals.list({ status: 'open', limit: 10 }).find(({ plugin }) => plugin === 'skill:sums');
    while (find() === undefined && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
    const question = find();
    expect(question?.question).toContain('run=summarize.py');
    await invoke('approvals.answer', { id: question?.id, answer: 'approve' });
    expect(toolNames()).toContain('sums.summarize.py');
  });

  it('ends when it is revoked, for calls that wait, too', async () => {
    await approve();
    expect(toolNames()).toHaveLength(3);
    await invoke('grants.revoke', { plugin: 'skill:sums' });
    expect(toolNames()).toEqual([]);
  });

  it('is not carried to another folder with the same files', async () => {
    await approve();
    cpSync(join(folder.dir, 'sums'), join(folder.dir, 'copy'), { recursive: true });
    rmSync(join(folder.dir, 'sums'), { recursive: true });
    await house.parts.skills.refresh();
    expect(house.parts.units.find('skill:sums').asking?.path).toMatch(/copy$/);
    expect(toolNames()).toEqual([]);
  });
});
