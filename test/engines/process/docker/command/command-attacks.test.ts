import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { findIgnoredFlags } from '../../../../../src/engines/process/docker/container/verify.ts';
import {
  describeDocker,
  eventually,
  findRunning,
  openRunnerHouse,
  type RunnerHouse,
  testImages,
  text,
} from '../docker-machine.ts';

describeDocker('a hostile command', () => {
  let house: RunnerHouse;
  beforeAll(() => {
    house = openRunnerHouse({ warm: { perImage: 0, total: 0, idleMs: 60_000 } });
  });
  afterEach(() => nothingLeft());
  afterAll(() => house.close());

  const nothingLeft = async () => {
    const ids = await eventually(
      () => house.containers(),
      (found) => found.length === 0,
    );
    expect(ids).toEqual([]);
    expect(house.faults).toEqual([]);
  };

  it('that forks without end meets the limit of processes and ends with its time', async () => {
    const bomb = 'bomb() { bomb | bomb & }; bomb & exec sleep 100';
    const error = await house.fail(house.sh(bomb, { timeoutMs: 1500 }));
    expect([error.code, error.message]).toEqual(['time-exceeded', 'The command "sh" did not end within 1500 ms.']);
  });

  it('never has more processes than it may', async () => {
    const { stdout } = await house.sh('i=0; while [ $i -lt 300 ]; do sleep 50 & i=$((i+1)); done; ps | wc -l', {
      timeoutMs: 10_000,
    });
    expect(text(stdout).trim() === '' || Number(text(stdout)) <= 102).toBe(true);
  });

  it('that takes memory without end is told so', async () => {
    const error = await house.fail(house.sh('a=x; while :; do a=$a$a; done'));
    expect([error.code, error.message]).toEqual(['memory-exceeded', 'The command "sh" used all the memory of its container.']);
    const python = await house.fail(
      house.run('python3', ['-c', 'x = []\nwhile True: x.append(bytearray(10_000_000))'], { image: testImages.python }),
    );
    expect(python.code).toBe('memory-exceeded');
  });

  it('that fills the disk meets the end of its own folders, and the root is not writable', async () => {
    const { stdout, stderr } = await house.sh(
      'dd if=/dev/zero of=/workspace/x bs=1M count=200 2>&1; rm /workspace/x; dd if=/dev/zero of=/tmp/x bs=1M count=200 2>&1; rm /tmp/x; echo x > /etc/x',
    );
    expect(text(stdout).match(/No space left on device/g)).toHaveLength(2);
    expect(text(stderr)).toContain('Read-only file system');
  });

  it('that writes without end is ended', async () => {
    const error = await house.fail(house.run('yes', []));
    expect([error.code, error.message]).toEqual([
      'output-exceeded',
      'The command wrote far more than the 10000 bytes that are kept, and was ended.',
    ]);
    const errors = await house.fail(house.sh('yes >&2'));
    expect(errors.code).toBe('output-exceeded');
  });

  it('that ignores SIGTERM is killed, and one that heeds it may tidy up', async () => {
    const deaf = await house.fail(house.sh('trap "" TERM; while :; do sleep 1; done', { timeoutMs: 300 }));
    expect(deaf.code).toBe('time-exceeded');
    const heeding = await house.fail(house.sh('trap "exit 0" TERM; while :; do sleep 0.1; done', { timeoutMs: 300 }));
    expect(heeding.code).toBe('time-exceeded');
  });

  it('leaves no process behind that goes on after it', async () => {
    const result = await house.sh('(trap "" TERM HUP; while :; do echo late > /workspace/late; sleep 0.05; done) & echo done', {
      collectBytes: 1000,
    });
    expect(text(result.stdout)).toBe('done\n');
  });

  it('cannot run what it wrote', async () => {
    const { stdout } = await house.sh(
      'for d in /tmp /workspace; do cat /bin/busybox > $d/mine; chmod +x $d/mine 2>/dev/null; $d/mine id 2>&1; done; for d in /dev/shm /dev/mqueue /run /var/tmp; do echo x > $d/x 2>/dev/null && echo "wrote $d"; done; true',
    );
    expect(text(stdout).match(/Permission denied/g)).toHaveLength(2);
    expect(text(stdout)).not.toContain('wrote');
  });

  it('cannot reach into the first process', async () => {
    const { stdout, stderr } = await house.sh(
      'ls -l /proc/1/fd; cat /proc/1/environ; echo x > /proc/1/fd/1; kill -9 1; echo alive',
    );
    expect(text(stdout)).toBe('total 0\nalive\n');
    expect(text(stderr).match(/(?:Permission denied|can't create|Operation not permitted)/g)?.length).toBeGreaterThanOrEqual(3);
  });

  it('cannot speak for its first process, look into it or end it by force', async () => {
    const script =
      'echo x > /proc/1/fd/1; cat /proc/1/mem; ls /proc/1/fd; cat /proc/1/environ; kill -9 1; kill -STOP 1; kill -SEGV 1; echo still here';
    const { stdout, stderr, exitCode } = await house.sh(script);
    expect([text(stdout), exitCode]).toEqual(['still here\n', 0]);
    expect(text(stderr).match(/Permission denied/g)?.length).toBeGreaterThanOrEqual(3);
    // The twin: the same way leads to a process of its own.
    const own = await house.sh('sleep 5 & echo x > /proc/$!/fd/1; kill -9 $!; echo done');
    expect(text(own.stdout)).toBe('x\ndone\n');
  });

  it('that ends its first process politely ends itself alone', async () => {
    const error = await house.fail(house.sh('kill -TERM 1; sleep 100'));
    expect([error.code, error.message]).toEqual([
      'engine-failed',
      'The container was ended from outside while the command ran (exit code 0).',
    ]);
  });

  it('has no rights, no new ones, a filter of system calls and no host in sight', async () => {
    const { stdout } = await house.sh(
      'grep -E "^(Uid|Gid|Cap|NoNewPrivs|Seccomp:)" /proc/self/status; ls /proc/sys/kernel/hostname; mkdir /tmp/m; busybox mount -t tmpfs x /tmp/m 2>&1; busybox unshare -U true 2>&1; busybox chroot / true 2>&1; busybox mknod /tmp/n c 1 3 2>&1',
    );
    const said = text(stdout);
    expect(said).toMatch(/Uid:\s+65534\s+65534\s+65534\s+65534/);
    expect(said).toMatch(/CapBnd:\s+0{16}/);
    expect(said).toMatch(/CapEff:\s+0{16}/);
    expect(said).toMatch(/NoNewPrivs:\s+1/);
    expect(said).toMatch(/Seccomp:\s+2/);
    expect(said.match(/(?:permission denied|Operation not permitted)/gi)?.length).toBeGreaterThanOrEqual(4);
  });

  it('is checked against what Docker made of the flags', async () => {
    const running = house.fail(house.sh('sleep 100'));
    const [id = ''] = await eventually(
      () => house.containers(),
      (ids) => ids.length > 0,
    );
    const made = await house.docker.getContainer(id).inspect();
    const plan = {
      imageId: made.Image,
      size: { cpus: 1, memoryBytes: 268_435_456, pids: 100, scratchBytes: 67_108_864 },
      initFile: '',
      owner: '',
    };
    expect(findIgnoredFlags(made, plan)).toEqual([]);
    expect(made.HostConfig.SecurityOpt).toEqual(['no-new-privileges']);
    expect(made.HostConfig.IpcMode).toBe('none');
    await house.runner.killAll();
    await running;
  });

  it('cannot send links, devices or names back that lead out of the workspace', async () => {
    const result = await house.sh(
      'ln -s /etc/passwd link; ln -s .. up; mkfifo pipe; mkdir .git; echo x > .git/config; echo x > .env; echo x > "a\\b"; echo x > "$(echo -e "c\\nd")"; echo ok > fine; ln fine twin',
      { collectBytes: 10_000 },
    );
    expect(result.files.map(({ path }) => path)).toEqual(['fine', 'twin']);
    expect([...result.refused].sort()).toEqual(['.env', '.git', '.git/config', 'a\\b', 'c?d', 'link', 'pipe', 'up']);
  });

  it('that leaves more files than may come back fails', async () => {
    const bytes = await house.fail(house.sh('dd if=/dev/zero of=x bs=1M count=5 2>/dev/null', { collectBytes: 1_000_000 }));
    expect([bytes.code, bytes.message]).toEqual([
      'payload-too-large',
      'The command left more than 1000000 bytes of files; they were not brought back.',
    ]);
    const files = await house.fail(
      house.run('python3', ['-c', 'for i in range(12000): open(f"f{i}", "w").close()'], {
        image: testImages.python,
        collectBytes: 1_000_000,
      }),
    );
    expect(files.code).toBe('payload-too-large');
  });

  it('that nests folders without end neither hangs nor kills the collection', async () => {
    const result = await house.run(
      'python3',
      ['-c', 'import os\nfor i in range(3000):\n  os.mkdir("d"); os.chdir("d")\nopen("deep","w").close()'],
      { image: testImages.python, collectBytes: 1_000_000 },
    );
    expect(result.files).toEqual([]);
  });

  it('that is killed from outside ends with a sentence that is true', async () => {
    for (const [how, sentence] of [
      ['kill', 'The container was ended from outside while the command ran (exit code 137).'],
      ['remove', 'The container was removed from outside while the command ran.'],
    ] as const) {
      const running = house.fail(house.sh('sleep 100'));
      const container = house.docker.getContainer(await findRunning(house.docker, house.containers, 'sleep'));
      if (how === 'kill') await container.kill();
      else await container.remove({ force: true });
      const error = await running;
      expect(error.code).toBe('engine-failed');
      expect([sentence, 'The container was ended from outside while the command ran (exit code 137).']).toContain(error.message);
      await nothingLeft();
    }
  });
});
