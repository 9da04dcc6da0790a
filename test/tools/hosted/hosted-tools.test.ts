import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { HotcellError } from '../../../src/errors/hotcell-error.ts';
import { createHostedTools, type HostedTools } from '../../../src/tools/hosted/hosted-tools.ts';
import type { HostedTool, HostedUnit } from '../../../src/tools/hosted/hosted-types.ts';
import { startSmallDaemon } from '../../small-daemon.ts';

type Run = HostedTool['run'];

function unitOf(run: Run, more: Partial<HostedUnit> = {}): HostedUnit {
  const input = { ...Type.Object({ text: Type.Optional(Type.String()) }, { additionalProperties: false }) };
  const tool: HostedTool = { name: 'probe', description: 'Probes.', input, tags: [], who: 'model', timeoutMs: 5000, run };
  return {
    path: 'builtin:probe',
    name: 'builtin:probe',
    kind: 'builtin',
    version: '1.0.0',
    description: 'Probes.',
    author: 'operator',
    contentHash: 'a'.repeat(64),
    permissions: { read: ['.'] },
    tools: [tool],
    ...more,
  };
}

type House = Awaited<ReturnType<typeof startSmallDaemon>>;

/** Units of the daemon itself beside those that it has. */
function openHosted({ parts }: Pick<House, 'parts'>): HostedTools {
  const { tools: registry, grants, names } = parts;
  return createHostedTools({ registry, decide: grants.decide, names, news: { note: () => {} } });
}

async function withDaemon(use: (house: House & { readonly hosted: HostedTools }) => Promise<void>): Promise<void> {
  const house = await startSmallDaemon({}, { grantRequested: false });
  try {
    await use({ ...house, hosted: openHosted(house) });
  } finally {
    await house.close();
  }
}

describe('createHostedTools', () => {
  it('puts a unit in place of the one with its path, and takes it out', () =>
    withDaemon(async ({ call, hosted }) => {
      hosted.put(unitOf(async () => 'first'));
      hosted.put(unitOf(async () => 'second', { contentHash: 'b'.repeat(64) }));
      expect((await call('probe')).output).toBe('second');
      expect(hosted.find('builtin:probe')?.asking?.contentHash).toBe('b'.repeat(64));
      hosted.remove('builtin:probe');
      await expect(call('probe')).rejects.toMatchObject({ code: 'tool-unknown' });
    }));

  it('has what was granted, as it is now, by its own name alone', () =>
    withDaemon(async ({ parts, call, hosted }) => {
      hosted.put(unitOf(async (_args, { user }) => user.granted()));
      expect((await call('probe')).output).toEqual({});
      const asking = hosted.find('builtin:probe')?.asking;
      if (asking === undefined) throw new Error('it was put');
      const scope = { scope: 'always' } as const;
      parts.grants.create({ asking, permissions: { read: ['a'] }, scope, grantedBy: 'local' });
      expect((await call('probe')).output).toEqual({ read: ['a'] });
      parts.grants.revoke({ unitPath: asking.path }, 'local');
      expect((await call('probe')).output).toEqual({});
    }));

  it('ends a call with the error of its tool, and any other as a fault of the daemon without its words', () =>
    withDaemon(async ({ call, hosted }) => {
      hosted.put(
        unitOf(async (args) => {
          if (JSON.stringify(args).includes('known')) throw new HotcellError('quota-exceeded', 'There is no more room.');
          throw new Error('secret words in /etc/daemon');
        }),
      );
      expect(await call('probe', { text: 'known' })).toMatchObject({ status: 'error', error: { code: 'quota-exceeded' } });
      const fault = await call('probe', { text: 'other' });
      expect(fault).toMatchObject({ status: 'error', error: { code: 'engine-failed' } });
      expect(JSON.stringify(fault)).not.toContain('secret words');
    }));

  it('keeps the deadline, the limit of the output and a cancel, whatever the tool does', () =>
    withDaemon(async ({ call, hosted }) => {
      const wait: Run = (_args, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new HotcellError('cancelled', 'Over.'))));
      hosted.put(unitOf(wait));
      expect(await call('probe', {}, { timeoutMs: 50 })).toMatchObject({ status: 'timeout', error: { code: 'time-exceeded' } });
      const cancel = new AbortController();
      const running = call('probe', {}, { signal: cancel.signal });
      cancel.abort();
      expect(await running).toMatchObject({ status: 'cancelled' });
      hosted.put(unitOf(async () => 'x'.repeat(2_000_000)));
      expect(await call('probe')).toMatchObject({ status: 'error', error: { code: 'output-exceeded' } });
    }));

  it('is refused a name that a tool of a plugin has, and leaves that tool alone', async () => {
    const plugin = 'export default { name: "probe", version: "1.0.0", handler: () => "the plugin" };';
    const house = await startSmallDaemon({ 'probe.ts': plugin });
    const hosted = openHosted(house);
    expect(() => hosted.put(unitOf(async () => 'mine'))).toThrow(/exists already/);
    expect((await house.call('probe')).output).toBe('the plugin');
    await house.close();
  });

  it('does not take part in the names of plugins: none can be called builtin:probe', async () => {
    const plugin = 'export default { name: "builtin:probe", permissions: { read: ["."] }, handler: () => 1 };';
    const house = await startSmallDaemon({ 'evil.ts': plugin });
    expect(house.parts.plugins.list()).toMatchObject([{ state: 'failed' }]);
    await house.close();
  });

  it('carries tools of a server that come and go, with all that is said of them, under names with a slash', async () => {
    const house = await startSmallDaemon({}, {}, { listen: true });
    const hosted = openHosted(house);
    const input = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'], additionalProperties: false };
    const output = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] };
    let size: unknown = 7;
    const toolOf = (name: string, more: Partial<HostedTool> = {}): HostedTool => ({
      ...{ name: `files/${name}`, description: 'Of a server.', input, timeoutMs: 5000, output },
      async run(_args, { onProgress }) {
        onProgress({ done: 1, total: 2, message: 'half' });
        return { size };
      },
      ...more,
    });
    const server = (contentHash: string, tools: readonly HostedTool[]) =>
      hosted.put({
        ...unitOf(async () => undefined, { path: 'server:files', name: 'server:files', author: 'caller', writtenBy: 'key_1' }),
        ...{ contentHash, permissions: { net: ['files.example'] }, tools },
      });
    const callOverHttp = async (ref: string) => {
      const response = await fetch(`${house.daemon.url}/api/tools/${encodeURIComponent(ref)}/call`, {
        method: 'POST',
        headers: { authorization: `Bearer ${house.daemon.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ arguments: { path: 'a' } }),
      });
      return { status: response.status, body: await response.json() };
    };
    try {
      server('1'.repeat(64), [
        toolOf('size', { idempotent: true, tags: ['disk'] }),
        toolOf('wipe', { flags: { isDangerous: true } }),
      ]);
      expect(hosted.find('server:files')?.asking).toMatchObject({ author: 'caller', writtenBy: 'key_1' });
      expect(await callOverHttp('files/size')).toMatchObject({ status: 200, body: { output: { size: 7 } } });
      expect(house.events.find(({ type }) => type === 'execution-progress')?.data).toMatchObject({ done: 1, message: 'half' });
      expect(house.parts.tools.resolve('files/wipe').manifest.flags).toMatchObject({ isDangerous: true, isElevated: false });
      expect(house.parts.tools.resolve('files/size').manifest).toMatchObject({ idempotent: true, tags: ['disk'], mode: 'on' });
      size = 'large';
      expect(await callOverHttp('files/size@1.0.0')).toMatchObject({ body: { error: { code: 'output-invalid' } } });
      server('2'.repeat(64), [toolOf('list')]);
      expect(await callOverHttp('files/size')).toMatchObject({ status: 404, body: { code: 'tool-unknown' } });
      expect(house.parts.tools.resolve('files/list').served.unit.contentHash).toBe('2'.repeat(64));
    } finally {
      await house.close();
    }
  });

  it('counts as loading until what is expected has come or failed', async () => {
    const house = await startSmallDaemon({});
    const hosted = openHosted(house);
    const { promise, reject } = Promise.withResolvers<void>();
    hosted.expect(promise);
    expect(hosted.isLoading()).toBe(true);
    reject(new Error('the server did not start'));
    await promise.catch(() => {});
    expect(hosted.isLoading()).toBe(false);
    await house.close();
  });
});
