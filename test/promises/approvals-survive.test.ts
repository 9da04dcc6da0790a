import { execFile } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { approvalContracts } from '../../src/operations/contracts/approvals.ts';
import { executionContracts } from '../../src/operations/contracts/executions.ts';
import { type DaemonProcess, makeDaemonFolder, removeDaemonFolder, startDaemonProcess } from './daemon-process.ts';

const command = fileURLToPath(new URL('../../bin/hotcell.js', import.meta.url));

/** Asks in the middle of a loop whose state lives in local variables alone. */
const asker = (edition: number, isolation = 'call') => `
let calls = 0;
export default {
  name: 'asker', description: 'Asks in the middle of a loop.', isolation: '${isolation}',
  handler: async (args: { questions: number }, context) => {
    calls += 1;
    const secret = Math.random();
    const seen: string[] = [];
    for (let round = 1; round <= args.questions; round++) {
      const before = secret * round;
      const yes = await context.confirm('Go on with round ' + round + '?');
      seen.push(round + ':' + yes + ':' + (before === secret * round));
    }
    return { edition: ${edition}, calls, seen };
  },
};
`;
const wiper = `export default {
  name: 'wiper', description: 'Wipes.', isDangerous: true,
  handler: (args: { disk: string }) => 'wiped ' + args.disk,
};
`;

let daemon: DaemonProcess | undefined;
let folder: string | undefined;

afterEach(async () => {
  await daemon?.kill();
  if (folder !== undefined) removeDaemonFolder(folder);
  daemon = undefined;
  folder = undefined;
});

async function start(plugins: Record<string, string>): Promise<DaemonProcess> {
  folder = makeDaemonFolder(plugins);
  daemon = await startDaemonProcess(folder);
  return daemon;
}

/** As a power cut: killed and started again. */
async function restart(): Promise<DaemonProcess> {
  if (daemon === undefined || folder === undefined) throw new Error('nothing runs');
  await daemon.kill();
  daemon = await startDaemonProcess(folder);
  return daemon;
}

/** The one question that is open, as soon as it is asked. */
async function findQuestion(running: DaemonProcess) {
  const list = () => running.client.invoke(approvalContracts.list, {});
  await expect.poll(async () => (await list()).items.length, { timeout: 10_000 }).toBe(1);
  const [question] = (await list()).items;
  if (question?.executionId === undefined) throw new Error('no question of a call');
  return { ...question, executionId: question.executionId };
}

const approve = (running: DaemonProcess, id: string) =>
  running.client.invoke(approvalContracts.answer, { id, answer: 'approve', person: true });
const waitForEnd = (running: DaemonProcess, id: string) => running.client.invoke(executionContracts.get, { id, waitMs: 20_000 });

/** Deletes the base image and the images of all generations; returns how many there were. */
function removeImages(dataDir: string): number {
  const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /^cache[/\\]base-/.test(file) || /image/.test(file),
  );
  for (const file of files) rmSync(join(dataDir, file), { recursive: true });
  return files.length;
}

/** Starts a call whose connection dies with the daemon. */
function callAndForget(running: DaemonProcess, ref: string, args: Record<string, unknown>): void {
  running.call(ref, args).catch(() => {});
}

describe('a call that waits for a person', () => {
  it('is answered after the daemon was killed, and goes on on the very line, question after question', async () => {
    let running = await start({ 'asker.ts': asker(1) });
    callAndForget(running, 'asker', { questions: 2 });
    const first = await findQuestion(running);
    expect(first).toMatchObject({ kind: 'confirm', question: 'Go on with round 1?', saidBy: 'plugin', tool: 'asker' });
    running = await restart();
    expect((await findQuestion(running)).id).toBe(first.id);
    await approve(running, first.id);
    const second = await findQuestion(running);
    expect(second).toMatchObject({ question: 'Go on with round 2?', executionId: first.executionId });
    running = await restart();
    await approve(running, second.id);
    expect(await waitForEnd(running, first.executionId)).toMatchObject({
      status: 'success',
      output: { edition: 1, calls: 1, seen: ['1:true:true', '2:true:true'] },
    });
  });

  it('finishes in the generation that it began in, though the plugin was edited and every image is gone', async () => {
    let running = await start({ 'asker.ts': asker(1) });
    callAndForget(running, 'asker', { questions: 1 });
    const question = await findQuestion(running);
    writeFileSync(join(running.folder, 'plugins', 'asker.ts'), asker(2));
    await expect
      .poll(async () => (await running.call('asker', { questions: 0 })).output, { timeout: 10_000 })
      .toMatchObject({ edition: 2 });
    await running.kill();
    expect(removeImages(join(running.folder, '.hotcell'))).toBeGreaterThan(1);
    running = await restart();
    expect(await running.call('asker', { questions: 0 })).toMatchObject({ output: { edition: 2 } });
    await approve(running, question.id);
    expect(await waitForEnd(running, question.executionId)).toMatchObject({
      status: 'success',
      output: { edition: 1, calls: 1, seen: ['1:true:true'] },
    });
  });

  it('is left to the next daemon by one that is asked to stop, and shown by the command that waits for it', async () => {
    let running = await start({ 'asker.ts': asker(1) });
    const answer = running.call('asker', { questions: 1 });
    const { id, executionId } = await findQuestion(running);
    const refused = expect(answer).rejects.toMatchObject({ code: 'shutting-down', facts: { executionId } });
    expect(await running.stop()).toBe(0);
    await refused;
    running = await restart();
    const shown = promisify(execFile)(process.execPath, [command, 'executions', 'show', executionId, '--wait', '--json'], {
      cwd: running.folder,
    });
    await approve(running, id);
    expect(JSON.parse((await shown).stdout)).toMatchObject({ status: 'success', output: { seen: ['1:true:true'] } });
  });

  it('keeps the memory of its session', async () => {
    let running = await start({ 'asker.ts': asker(1, 'session') });
    expect(await running.call('asker', { questions: 0 })).toMatchObject({ output: { calls: 1 } });
    callAndForget(running, 'asker', { questions: 1 });
    const question = await findQuestion(running);
    running = await restart();
    await approve(running, question.id);
    expect(await waitForEnd(running, question.executionId)).toMatchObject({ output: { calls: 2, seen: ['1:true:true'] } });
    expect(await running.call('asker', { questions: 0 })).toMatchObject({ output: { calls: 3 } });
  });

  it('begins after the restart when it waited for leave to begin', async () => {
    let running = await start({ 'wiper.ts': wiper });
    callAndForget(running, 'wiper', { disk: 'C' });
    const question = await findQuestion(running);
    expect(question).toMatchObject({ kind: 'call', reason: 'dangerous', details: { arguments: { disk: 'C' } } });
    expect(await running.client.invoke(executionContracts.get, { id: question.executionId })).toMatchObject({
      status: 'pending',
    });
    running = await restart();
    await approve(running, question.id);
    expect(await waitForEnd(running, question.executionId)).toMatchObject({ status: 'success', output: 'wiped C' });
  });

  it('ends as denied when a person says no', async () => {
    let running = await start({ 'wiper.ts': wiper });
    callAndForget(running, 'wiper', { disk: 'C' });
    const { id, executionId } = await findQuestion(running);
    running = await restart();
    await running.client.invoke(approvalContracts.answer, { id, answer: 'deny', person: true });
    expect(await waitForEnd(running, executionId)).toMatchObject({ status: 'error', error: { code: 'approval-denied' } });
  });

  it('ends as interrupted when its plugin is gone', async () => {
    let running = await start({ 'asker.ts': asker(1) });
    callAndForget(running, 'asker', { questions: 1 });
    const { executionId } = await findQuestion(running);
    await running.kill();
    rmSync(join(running.folder, 'plugins', 'asker.ts'));
    running = await restart();
    expect(await waitForEnd(running, executionId)).toMatchObject({ status: 'error', error: { code: 'interrupted' } });
    expect((await running.client.invoke(approvalContracts.list, {})).items).toEqual([]);
  });
});
