import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executionContracts } from '../../src/operations/contracts/executions.ts';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { type DaemonProcess, makeDaemonFolder, removeDaemonFolder, startDaemonProcess } from './daemon-process.ts';

const echo = (edition: number) => `export default {
  name: 'echo', description: 'Says it again.',
  handler: (args: { text: string }) => ({ edition: ${edition}, length: args.text.length }),
};
`;

const counts = `let calls = 0;
export default { name: 'counts', description: 'Counts its calls.', isolation: 'session', handler: () => ++calls };
`;
const folder = makeDaemonFolder({ 'echo.ts': echo(1), 'counts.ts': counts });
const dataDir = join(folder, '.hotcell');
const filler = join(dataDir, 'filler');
const isMounted = mountSmallDisk();
let daemon: DaemonProcess;

beforeAll(async () => {
  if (isMounted) daemon = await startDaemonProcess(folder);
});

afterAll(async () => {
  if (isMounted) {
    await daemon.kill();
    execFileSync('umount', [dataDir]);
  }
  removeDaemonFolder(folder);
});

/** A disk of a few megabytes, which only root can have. */
function mountSmallDisk(): boolean {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=0700', 'tmpfs', dataDir], { stdio: 'pipe' });
    return true;
  } catch {
    process.stderr.write('SKIPPED full-disk: mounting a small disk needs root on Linux (sudo npm test).\n');
    return false;
  }
}

/** Page by page until there is no room: the daemon writes too, so what was free a moment ago says nothing. */
function fillDisk(): void {
  const page = Buffer.alloc(4096);
  const file = openSync(filler, 'w');
  try {
    for (;;) writeSync(file, page);
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' });
  } finally {
    closeSync(file);
  }
}

const call = () => daemon.call('echo', { text: 'x'.repeat(200_000) });

describe.skipIf(!isMounted)('a full disk', () => {
  it('is said with the call whose record did not fit, and nothing else breaks', async () => {
    const first = await call();
    expect(first).toMatchObject({ status: 'success' });
    fillDisk();
    const refusal = await refuseAfterAll();
    expect(refusal).toMatchObject({ code: 'storage-full', status: 507, fix: expect.stringMatching(/Free space/) });
    expect(await daemon.client.invoke(executionContracts.get, { id: first.executionId })).toMatchObject({ status: 'success' });
    expect(await daemon.client.invoke(pluginContracts.get, { name: 'echo' })).toMatchObject({ state: 'ready' });
  });

  it('lets nothing begin that could not be recorded', async () => {
    for (let asked = 0; asked < 20; asked++) {
      await expect(daemon.call('counts')).rejects.toMatchObject({ code: 'storage-full', status: 507 });
    }
    expect((await fetch(`${daemon.url}/readyz`)).status).toBe(503);
    const lines = daemon
      .output()
      .split('\n')
      .filter((line) => /"level":(?:50|"error")/.test(line) && line.includes('storage-full'));
    expect(lines.length).toBeLessThanOrEqual(2);
    expect(lines.join('')).not.toContain('stack');
  });

  it('lets a save go live all the same, and says what could not be kept', async () => {
    writeFileSync(join(folder, 'plugins', 'echo.ts'), echo(2));
    await expect(daemon.client.invoke(pluginContracts.reload, { name: 'echo' })).resolves.toMatchObject({
      ok: true,
      generation: 2,
    });
    await expect.poll(() => daemon.output(), { timeout: 10_000 }).toMatch(/storage-problem/);
  });

  it('is over as soon as there is room: calls are recorded, and a restart finds them', async () => {
    rmSync(filler);
    const answer = await succeedAtLast();
    expect(await daemon.call('counts')).toMatchObject({ output: 1 });
    expect((await fetch(`${daemon.url}/readyz`)).status).toBe(200);
    expect(answer).toMatchObject({ status: 'success', output: { edition: 2 } });
    await daemon.kill();
    daemon = await startDaemonProcess(folder);
    const record = await daemon.client.invoke(executionContracts.get, { id: answer.executionId });
    expect(record).toMatchObject({ status: 'success' });
    expect(await daemon.call('echo', { text: 'abc' })).toMatchObject({ output: { edition: 2, length: 3 } });
  });
});

/** What room the database still had is used up by a few calls. */
async function refuseAfterAll(): Promise<unknown> {
  for (let calls = 0; calls < 300; calls++) {
    try {
      await call();
    } catch (error) {
      return error;
    }
  }
  throw new Error('300 large records fitted into a full disk');
}

/** The store tries again within a second; until then calls are refused. */
async function succeedAtLast() {
  const deadline = Date.now() + 10_000;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
