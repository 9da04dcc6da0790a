import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeDocker, eventually, openRunnerHouse, type RunnerHouse, testImages, text } from '../docker-machine.ts';

describeDocker('createCommandRunner', () => {
  let house: RunnerHouse;
  beforeAll(() => {
    house = openRunnerHouse();
  });
  afterAll(() => house.close());

  it('runs a command and tells output, errors and exit code apart', async () => {
    const result = await house.sh('echo out; echo err >&2; exit 3');
    expect({ ...result, stdout: text(result.stdout), stderr: text(result.stderr) }).toEqual({
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
      truncated: false,
      files: [],
      refused: [],
    });
  });

  it('passes arguments as they are: there is no shell between', async () => {
    const { stdout } = await house.run('echo', ['$HOME; `id`', '"two"', '', 'ü']);
    expect(text(stdout)).toBe('$HOME; `id` "two"  ü\n');
  });

  it('says how a signal ended a command', async () => {
    expect((await house.sh('kill -9 $$')).exitCode).toBe(137);
  });

  it('hands over standard input of any length', async () => {
    const stdin = Buffer.alloc(3_000_000, 'line\n');
    expect(text((await house.run('wc', ['-c'], { stdin })).stdout).trim()).toBe('3000000');
    expect((await house.run('true', [], { stdin })).exitCode).toBe(0);
  });

  it('gives the command the environment of the image and its own, and nothing of the daemon', async () => {
    process.env.HOTCELL_TEST_SECRET = 'must not be seen';
    const { stdout } = await house.run('env', [], { env: { GREETING: 'hello' } });
    delete process.env.HOTCELL_TEST_SECRET;
    const names = text(stdout)
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]);
    expect(names.sort()).toEqual(['GREETING', 'HOME', 'PATH', 'TMPDIR']);
  });

  it('brings files in, and back what is new or changed', async () => {
    const files = [
      { path: 'in/deep/name.txt', data: Buffer.from('one') },
      { path: 'same.txt', data: Buffer.from('same') },
      { path: 'changed.txt', data: Buffer.from('before') },
      { path: 'large.bin', data: Buffer.alloc(300_000, 7) },
    ];
    const script = 'cat in/deep/name.txt; echo after > changed.txt; mkdir -p out; wc -c < large.bin > out/size';
    const result = await house.sh(script, { files, collectBytes: 1_000_000 });
    expect(text(result.stdout)).toBe('one');
    expect(result.files.map(({ path, data }) => [path, text(data)])).toEqual([
      ['changed.txt', 'after\n'],
      ['out/size', '300000\n'],
    ]);
  });

  it('keeps the beginning of long output and says that there was more', async () => {
    const { stdout, truncated, exitCode } = await house.sh('dd if=/dev/zero bs=1000 count=500 2>/dev/null', {
      maxOutputBytes: 1000,
    });
    expect({ size: stdout.length, truncated, exitCode }).toEqual({ size: 1000, truncated: true, exitCode: 0 });
  });

  it('gives every command a container of its own', async () => {
    await house.sh('echo mine > /tmp/left; echo mine > /workspace/left');
    await house.runner.settled();
    expect(text((await house.sh('ls /tmp /workspace')).stdout)).not.toContain('left');
  });

  it('runs many commands at once', async () => {
    const numbers = Array.from({ length: 12 }, (_, index) => index);
    const results = await Promise.all(numbers.map((number) => house.run('echo', [String(number)])));
    expect(results.map(({ stdout }) => Number(text(stdout)))).toEqual(numbers);
  });

  it('refuses an image that is not in the allow list', async () => {
    const error = await house.fail(house.run('true', [], { image: 'hotcell-test/box:3' }));
    expect(error.code).toBe('image-refused');
    expect(error.message).toBe('The image "hotcell-test/box:3" is not in the allow list.');
    expect(error.fix).toContain('hotcell-test/box:2');
  });

  it('says of an image that is not there how to get it', async () => {
    const other = openRunnerHouse({ images: ['hotcell-test/absent:1'] });
    const error = await other.fail(other.run('true', [], { image: 'hotcell-test/absent:1' }));
    expect([error.code, error.fix]).toEqual(['image-missing', expect.stringContaining('docker pull hotcell-test/absent:1')]);
    await other.close();
  });

  it('says of a command that is not in the image', async () => {
    const error = await house.fail(house.run('ffmpeg', []));
    expect([error.code, error.message]).toEqual([
      'command-missing',
      'There is no command "ffmpeg" in the image hotcell-test/box:2.',
    ]);
  });

  it('refuses arguments that no process can be given', async () => {
    expect((await house.fail(house.run('echo', ['a\0b']))).code).toBe('arguments-invalid');
    expect((await house.fail(house.run('echo', ['x'.repeat(70_000)]))).code).toBe('arguments-invalid');
    expect((await house.fail(house.run('echo', new Array<string>(1001).fill('x')))).code).toBe('arguments-invalid');
  });

  it('ends a command whose call was cancelled', async () => {
    const ending = new AbortController();
    const running = house.run('sleep', ['100'], {}, ending.signal);
    await eventually(
      () => house.containers(),
      (ids) => ids.length > 0,
    );
    ending.abort();
    expect((await house.fail(running)).code).toBe('cancelled');
    expect((await house.fail(house.run('true', [], {}, AbortSignal.abort()))).code).toBe('cancelled');
  });

  it('kills the runs of one call, and all', async () => {
    const one = house.fail(house.run('sleep', ['100'], { id: 'exe_one' }));
    const other = house.fail(house.run('sleep', ['100'], { id: 'exe_other' }));
    expect(await house.runner.kill('exe_one')).toBe(1);
    expect((await one).code).toBe('cancelled');
    expect(await house.runner.killAll()).toBe(1);
    expect((await other).code).toBe('cancelled');
    expect(await house.runner.kill('exe_one')).toBe(0);
  });

  it('lets only so many run at a time, and the others wait their turn', async () => {
    const narrow = openRunnerHouse({ maxRunning: 1, maxWaiting: 1 });
    const first = narrow.run('echo', ['1']);
    const second = narrow.run('echo', ['2']);
    expect((await narrow.fail(narrow.run('echo', ['3']))).code).toBe('queue-full');
    expect([text((await first).stdout), text((await second).stdout)]).toEqual(['1\n', '2\n']);
    await narrow.close();
  });

  it('keeps a container ready for the image that was used, and removes it when nobody asks again', async () => {
    const brief = openRunnerHouse({ warm: { perImage: 2, total: 2, idleMs: 1000 } });
    await brief.run('true', []);
    await brief.runner.settled();
    expect((await brief.containers()).length).toBeGreaterThanOrEqual(2);
    expect(
      await eventually(
        () => brief.containers(),
        (ids) => ids.length === 0,
      ),
    ).toEqual([]);
    await brief.close();
  });

  it('replaces a ready container that somebody removed', async () => {
    await house.run('true', []);
    await house.runner.settled();
    for (const id of await house.containers()) {
      // One that ran a command may be on its way out just now.
      await house.docker
        .getContainer(id)
        .remove({ force: true })
        .catch(() => undefined);
    }
    expect((await house.run('true', [])).exitCode).toBe(0);
  });

  it('leaves nothing behind when it closes, and runs nothing any more', async () => {
    const other = openRunnerHouse();
    const running = other.fail(other.run('sleep', ['100']));
    await other.run('true', []);
    await other.runner.settled();
    await other.runner.close();
    expect((await running).code).toBe('cancelled');
    expect(await other.containers()).toEqual([]);
    expect((await other.fail(other.run('true', []))).code).toBe('shutting-down');
    await other.close();
  });

  it('sweeps what a crashed daemon left', async () => {
    const other = openRunnerHouse();
    await other.run('true', []);
    await other.runner.settled();
    expect(await other.containers()).not.toEqual([]);
    // A daemon's own containers are no leftovers; to the next one over the same data they are.
    expect(await other.runner.sweep()).toBe(0);
    const next = openRunnerHouse({}, other.dataDir);
    expect(await next.runner.sweep()).toBeGreaterThan(0);
    expect(await next.containers()).toEqual([]);
    await next.runner.close();
    await other.close();
  });

  it('runs Python and Node from their images', async () => {
    const python = await house.run('python3', ['-c', 'print(6*7)'], { image: testImages.python });
    const node = await house.run('node', ['-p', '6*7'], { image: testImages.node });
    expect([text(python.stdout), text(node.stdout)]).toEqual(['42\n', '42\n']);
  });
});
