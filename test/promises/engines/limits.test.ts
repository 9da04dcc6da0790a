import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallAnswer } from '../../../src/calls/call-types.ts';
import { decodeRecording } from '../../../src/calls/record/recording-codec.ts';
import type { ErrorCode } from '../../../src/errors/catalog.ts';
import { executionContracts } from '../../../src/operations/contracts/executions.ts';
import { toolContracts } from '../../../src/operations/contracts/tools.ts';
import { until } from '../../plugins/rig/supervisor-rig.ts';
import { type EngineHouse, openEngineHouse } from './engine-house.ts';
import { type Deed, guestLimits, limitGuests } from './limit-guests.ts';
import { presentParts } from './subjects.ts';

const guests = presentParts(limitGuests, ({ engine }) => engine);
const slow = `export default { name: 'slow', description: 'Takes its time.', permissions: {},
  handler: () => new Promise((resolve) => setTimeout(resolve, 60_000)) };\n`;
let world: EngineHouse;

beforeAll(async () => {
  const grants = Object.fromEntries(guests.map(({ plugin }) => [plugin, { kv: true, tools: ['slow'] }]));
  world = await openEngineHouse({ subjects: guests, plugins: { 'slow.ts': slow }, config: { grants } });
}, 60_000);
afterAll(() => world.close());

interface LimitCase {
  readonly deed: Deed;
  readonly what: string;
  readonly status: CallAnswer['status'];
  readonly code?: ErrorCode;
  /** A part of the message. */
  readonly says?: string;
  /** The caller is in a hurry. */
  readonly timeoutMs?: number;
}

/** One row holds for every engine. */
const limitCases: readonly LimitCase[] = [
  {
    what: 'spins beyond its processor time',
    deed: 'spin',
    status: 'timeout',
    code: 'time-exceeded',
    says: `${guestLimits.cpuMs} ms`,
  },
  { what: 'spins beyond its wall clock', deed: 'spin', status: 'timeout', code: 'time-exceeded', timeoutMs: 200 },
  { what: 'waits beyond its wall clock', deed: 'wait', status: 'timeout', code: 'time-exceeded', timeoutMs: 200 },
  { what: 'fills its memory', deed: 'memory', status: 'error', code: 'memory-exceeded' },
  { what: 'recurses without end', deed: 'stack', status: 'error', code: 'stack-exceeded' },
  { what: 'answers too much', deed: 'output', status: 'error', code: 'output-exceeded' },
  { what: 'answers what nests too deeply', deed: 'deep', status: 'error', code: 'output-invalid', says: '500 levels' },
  { what: 'asks the host too often', deed: 'asks', status: 'error', code: 'host-calls-exceeded' },
  { what: 'asks the host too much at once', deed: 'burst', status: 'error', code: 'pending-host-calls-exceeded' },
  { what: 'throws', deed: 'throws', status: 'error', code: 'handler-threw', says: 'on purpose' },
  { what: 'ends its process', deed: 'ends', status: 'error', code: 'engine-failed' },
  { what: 'logs without end', deed: 'log', status: 'success' },
];

const recordingOf = async (id: string) => {
  const { recordings } = world.house.daemon.parts.store;
  await until(async () => recordings.get(id) !== undefined, 'its recording');
  const blob = recordings.get(id);
  return blob === undefined ? undefined : decodeRecording(blob);
};
const call = (ref: string, more: { timeoutMs?: number } = {}) =>
  world.house.client.invoke(toolContracts.call, { ref, arguments: {}, ...more });
const show = (id: string) => world.house.client.invoke(executionContracts.get, { id });

describe.each(guests.map((guest) => [guest.engine, guest] as const))('a guest of %s', (_engine, { plugin, deeds }) => {
  it.each(limitCases.filter(({ deed }) => deeds.includes(deed)).map((each) => [each.what, each] as const))(
    'that %s ends as on every engine, and its neighbour goes on',
    async (_what, { deed, status, code, says = '', timeoutMs }) => {
      const ended = await call(`${plugin}_${deed}`, timeoutMs === undefined ? {} : { timeoutMs });
      expect([ended.status, ended.error?.code]).toEqual([status, code]);
      expect(ended.error?.message ?? '').toContain(says);
      expect(await call(`${plugin}_fine`)).toMatchObject({ status: 'success', output: 'fine' });
      expect(await show(ended.executionId)).toMatchObject({ status, ...(code === undefined ? {} : { error: { code } }) });
    },
    40_000,
  );

  it('keeps as many lines of its log as it may, and says that there were more', async () => {
    const { executionId } = await call(`${plugin}_log`);
    const { logs = [] } = await show(executionId);
    expect(logs).toHaveLength(guestLimits.logLines + 1);
    expect(logs.at(-1)).toMatchObject({ level: 'warn', text: expect.stringMatching(/dropped/) });
  });

  it('says where it threw, and nothing of the machine', async () => {
    const { error } = await call(`${plugin}_throws`);
    const text = JSON.stringify(error);
    for (const secret of [world.folder, process.cwd(), 'node_modules', 'blob:', '/tmp/']) expect(text).not.toContain(secret);
    if (plugin === 'limits_extism') return;
    expect(error?.frames?.[0]).toMatchObject({ file: `${plugin}.ts`, line: expect.any(Number), column: expect.any(Number) });
    expect(error?.codeFrame).toContain('throw new Error(');
  });

  it('leaves a recording of what it asked the host', async () => {
    const { executionId } = await call(`${plugin}_asks`);
    const { crossings = [] } = (await recordingOf(executionId)) ?? {};
    expect(crossings.length).toBe(guestLimits.hostCalls);
    expect(crossings[0]).toMatchObject({ op: 'kv.get', payload: '{"key":"k"}', answer: { ok: true, payload: 'null' } });
  });

  it('ends at once when its call is cancelled, spinning or waiting', async () => {
    for (const deed of ['spin', 'wait'] as const) {
      const started = world.house.event('execution-start', ({ data }) => data.tool === `${plugin}_${deed}`);
      const ending = call(`${plugin}_${deed}`);
      const { subject: id } = Object(await started);
      expect(await world.house.client.invoke(executionContracts.cancel, { id })).toMatchObject({ cancelled: true });
      expect(await ending).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } });
    }
    expect(await call(`${plugin}_fine`)).toMatchObject({ output: 'fine' });
  });
});
