import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvalContracts } from '../../src/operations/contracts/access/approvals.ts';
import { executionContracts } from '../../src/operations/contracts/executions.ts';
import { promptContracts } from '../../src/operations/contracts/offerings.ts';
import { until } from '../plugins/rig/supervisor-rig.ts';
import { type DaemonProcess, makeDaemonFolder, removeDaemonFolder, startDaemonProcess } from './daemon-process.ts';

const command = fileURLToPath(new URL('../../bin/hotcell.js', import.meta.url));

/** Asks in the middle of a loop whose state lives in local variables alone. */
const asker = (edition: number, isolation = 'call') => `
let calls = 0;
export default {
  description: 'Asks in the middle of a loop.', isolation: '${isolation}',
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
  description: 'Wipes.', isDangerous: true,
  handler: (args: { disk: string }) => 'wiped ' + args.disk,
};
`;
/** Asks two forms side by side, in a tool and in a prompt. */
const forms = `
const ask = async (context) => {
  const form = (name) => context.ask({ message: name, name,
    schema: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer', default: 3 } }, required: ['city'] } });
  const before = Math.random();
  const both = await Promise.all([form('from'), form('to')]);
  return JSON.stringify([...both.map(({ action, content }) => [action, content]), typeof before]);
};
export default {
  description: 'Asks forms.',
  tools: { forms: { description: 'Asks.', handler: (args: {}, context) => ask(context) } },
  prompts: { travel: { handler: (args, context) => ask(context) } },
};
`;
const plugins = {
  'forms.ts': forms,
  'looping.ts': asker(1),
  'edited.ts': asker(1),
  'stopped.ts': asker(1),
  'lasting.ts': asker(1, 'session'),
  'removed.ts': asker(1),
  'wiper.ts': wiper,
  'denied.ts': wiper,
};

type Question = Awaited<ReturnType<typeof findQuestion>>;
let folder: string;
let daemon: DaemonProcess;
/** What was asked before the first kill, by the tool that asked. */
const asked = new Map<string, Question>();

beforeAll(async () => {
  folder = makeDaemonFolder(plugins);
  daemon = await startDaemonProcess(folder);
  expect(await daemon.call('lasting', { questions: 0 })).toMatchObject({ output: { calls: 1 } });
  asked.set('looping', await askAndForget('looping', { questions: 2 }));
  asked.set('lasting', await askAndForget('lasting', { questions: 1 }));
  asked.set('removed', await askAndForget('removed', { questions: 1 }));
  asked.set('wiper', await askAndForget('wiper', { disk: 'C' }));
  asked.set('denied', await askAndForget('denied', { disk: 'C' }));
  const { executionId } = findAsked('wiper');
  expect(await daemon.client.invoke(executionContracts.get, { id: executionId })).toMatchObject({ status: 'pending' });
  await restart(() => rmSync(join(folder, 'plugins', 'removed.ts')));
}, 120_000);
afterAll(async () => {
  await daemon?.kill();
  removeDaemonFolder(folder);
});

/** As a power cut: killed and started again. */
async function restart(meanwhile: () => void = () => {}): Promise<void> {
  await daemon.kill();
  meanwhile();
  daemon = await startDaemonProcess(folder);
}

/** The open question of a tool, as soon as it is asked, and not the one before. */
async function findQuestion(tool: string, before?: string) {
  const find = async () => {
    const { items } = await daemon.client.invoke(approvalContracts.list, {});
    return items.find((item) => item.tool === tool && item.id !== before);
  };
  await until(async () => (await find()) !== undefined, `a question of ${tool}`);
  const question = await find();
  if (question?.executionId === undefined) throw new Error('no question of a call');
  return { ...question, executionId: question.executionId };
}

/** Starts a call whose connection dies with the daemon; resolves with what it asks. */
function askAndForget(ref: string, args: Record<string, unknown>): Promise<Question> {
  daemon.call(ref, args).catch(() => {});
  return findQuestion(ref);
}

function findAsked(tool: string): Question {
  const question = asked.get(tool);
  if (question === undefined) throw new Error(`${tool} asked nothing`);
  return question;
}

const answer = (id: string, decision: 'approve' | 'deny' = 'approve') =>
  daemon.client.invoke(approvalContracts.answer, { id, answer: decision, person: true });
const waitForEnd = (id: string) => daemon.client.invoke(executionContracts.get, { id, waitMs: 20_000 });

/** Deletes the base image, and cuts the images off the files of all generations; returns how many there were. */
function removeImages(dataDir: string): number {
  const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
  const bases = files.filter((file) => /^cache[/\\]base-/.test(file));
  const generations = files.filter((file) => /[/\\]gen_\w+$/.test(file));
  for (const file of bases) rmSync(join(dataDir, file));
  for (const file of generations) {
    const bytes = readFileSync(join(dataDir, file));
    const { image } = JSON.parse(bytes.toString('utf8', 0, bytes.indexOf('\n')));
    writeFileSync(join(dataDir, file), bytes.subarray(0, bytes.length - image));
  }
  return bases.length + generations.length;
}

describe('a call that waits for a person while the daemon is killed', () => {
  it('is answered, and goes on on the very line, question after question', async () => {
    const first = findAsked('looping');
    expect(first).toMatchObject({ kind: 'confirm', question: 'Go on with round 1?', saidBy: 'plugin' });
    expect((await findQuestion('looping')).id).toBe(first.id);
    await answer(first.id);
    const second = await findQuestion('looping', first.id);
    expect(second).toMatchObject({ question: 'Go on with round 2?', executionId: first.executionId });
    await restart();
    await answer(second.id);
    expect(await waitForEnd(first.executionId)).toMatchObject({
      status: 'success',
      output: { edition: 1, calls: 1, seen: ['1:true:true', '2:true:true'] },
    });
  });

  it('keeps the memory of its session', async () => {
    const { id, executionId } = findAsked('lasting');
    await answer(id);
    expect(await waitForEnd(executionId)).toMatchObject({ output: { calls: 2, seen: ['1:true:true'] } });
    expect(await daemon.call('lasting', { questions: 0 })).toMatchObject({ output: { calls: 3 } });
  });

  it('begins after the restart when it waited for leave to begin', async () => {
    const question = findAsked('wiper');
    expect(question).toMatchObject({ kind: 'call', reason: 'dangerous', details: { arguments: { disk: 'C' } } });
    await answer(question.id);
    expect(await waitForEnd(question.executionId)).toMatchObject({ status: 'success', output: 'wiped C' });
  });

  it('ends as denied when a person says no', async () => {
    const { id, executionId } = findAsked('denied');
    await answer(id, 'deny');
    expect(await waitForEnd(executionId)).toMatchObject({ status: 'error', error: { code: 'approval-denied' } });
  });

  it('ends as interrupted when its plugin is gone', async () => {
    const { executionId } = findAsked('removed');
    expect(await waitForEnd(executionId)).toMatchObject({ status: 'error', error: { code: 'interrupted' } });
    const { items } = await daemon.client.invoke(approvalContracts.list, {});
    expect(items.filter(({ tool }) => tool === 'removed')).toEqual([]);
  });

  it('finishes in the generation that it began in, though the plugin was edited and every image is gone', async () => {
    const question = await askAndForget('edited', { questions: 1 });
    writeFileSync(join(folder, 'plugins', 'edited.ts'), asker(2));
    await expect
      .poll(async () => (await daemon.call('edited', { questions: 0 })).output, { timeout: 20_000 })
      .toMatchObject({ edition: 2 });
    await restart(() => expect(removeImages(join(folder, '.hotcell'))).toBeGreaterThan(1));
    expect(await daemon.call('edited', { questions: 0 })).toMatchObject({ output: { edition: 2 } });
    await answer(question.id);
    expect(await waitForEnd(question.executionId)).toMatchObject({
      status: 'success',
      output: { edition: 1, calls: 1, seen: ['1:true:true'] },
    });
  });
});

describe('a call that asks its caller to fill in forms', () => {
  it.each(['forms', 'prompt:travel'])('has what was answered before the kill and after it: %s', async (tool) => {
    const calling = tool === 'forms' ? daemon.call(tool, {}) : daemon.client.invoke(promptContracts.get, { name: 'travel' });
    calling.catch(() => {});
    const find = async () => {
      const { items } = await daemon.client.invoke(approvalContracts.list, {});
      return items.filter((item) => item.tool === tool);
    };
    await until(async () => (await find()).length === 2, 'both forms');
    const [from, to] = (await find()).sort((one, other) => (one.question < other.question ? -1 : 1));
    const say = (id: string, content: Record<string, unknown>) =>
      daemon.client.invoke(approvalContracts.answer, { id, answer: 'approve', content });
    await say(from?.id ?? '', { city: 'Oslo', days: 1 });
    await restart();
    expect((await find()).map(({ id }) => id)).toEqual([to?.id]);
    await say(to?.id ?? '', { city: 'Rome' });
    const { output } = await waitForEnd(to?.executionId ?? '');
    expect(JSON.parse(String(output))).toEqual([
      ['accept', { city: 'Oslo', days: 1 }],
      ['accept', { city: 'Rome', days: 3 }],
      'number',
    ]);
  });
});

describe('a call that waits for a person while the daemon is asked to stop', () => {
  it('is left to the next daemon, and shown by the command that waits for it', async () => {
    const called = daemon.call('stopped', { questions: 1 });
    const refused = expect(called).rejects.toMatchObject({ code: 'shutting-down' });
    const { id, executionId } = await findQuestion('stopped');
    expect(await daemon.stop()).toBe(0);
    await refused;
    await expect(called).rejects.toMatchObject({ facts: { executionId } });
    daemon = await startDaemonProcess(folder);
    const shown = promisify(execFile)(process.execPath, [command, 'executions', 'show', executionId, '--wait', '--json'], {
      cwd: folder,
    });
    await answer(id);
    expect(JSON.parse((await shown).stdout)).toMatchObject({ status: 'success', output: { seen: ['1:true:true'] } });
  });
});
