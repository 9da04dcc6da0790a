import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { useSharedParts } from '../rig/shared-parts.ts';
import { answering, makeFolder, type Rig, startRig, until } from '../rig/supervisor-rig.ts';

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;
const isRoot = process.getuid?.() === 0;

const shared = useSharedParts();

const stateOf = (rig: Rig, name: string) => rig.supervisor.list().find((plugin) => plugin.name === name)?.state;

/** Takes every descriptor that this process may have, and fewer of them; the answer gives all back. */
function exhaustDescriptors(): () => void {
  const { pid } = process;
  const open = readdirSync('/proc/self/fd').length;
  const [, soft = '', hard = ''] =
    /(\d+|unlimited)\s+(\d+|unlimited)/.exec(
      spawnSync('prlimit', ['--pid', String(pid), '--nofile', '--noheadings', '--output', 'SOFT,HARD'], { encoding: 'utf8' })
        .stdout,
    ) ?? [];
  spawnSync('prlimit', ['--pid', String(pid), `--nofile=${open + 64}:${hard}`]);
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {
    // Every descriptor is taken now.
  }
  return () => {
    for (const descriptor of taken.splice(0)) closeSync(descriptor);
    spawnSync('prlimit', ['--pid', String(pid), `--nofile=${soft}:${hard}`]);
  };
}

describe('a failure of the machine', () => {
  it.skipIf(!hasPrlimit || !isRoot)(
    'is no failure of the plugin: a save without a free descriptor is built once there is one',
    async () => {
      const rig = await startRig(shared.get());
      writeFileSync(join(rig.plugins, 'a.ts'), answering('one'));
      await until(() => stateOf(rig, 'a') === 'ready', 'the first build');
      const staged = join(rig.home, 'staged.ts');
      writeFileSync(staged, answering('two'));
      const giveBack = exhaustDescriptors();
      onTestFinished(giveBack);
      // A rename needs no descriptor.
      renameSync(staged, join(rig.plugins, 'a.ts'));
      await until(() => stateOf(rig, 'a') === 'degraded', 'the build that had no descriptor');
      expect(await rig.call('a')).toBe('one');
      giveBack();
      await until(async () => (await rig.call('a')) === 'two', 'the build that nobody asked for', 30_000);
      expect(stateOf(rig, 'a')).toBe('ready');
    },
  );
});

describe('a plugin folder', () => {
  const mount = (...args: string[]) => spawnSync('mount', args).status === 0;
  const canMount = (() => {
    if (!isRoot) return false;
    const folder = spawnSync('mktemp', ['-d'], { encoding: 'utf8' }).stdout.trim();
    const could = mount('-t', 'tmpfs', 'tmpfs', folder);
    if (could) spawnSync('umount', [folder]);
    spawnSync('rmdir', [folder]);
    return could;
  })();

  it.skipIf(!canMount)('that is unmounted keeps its tools, and is taken up again when it is back', async () => {
    const home = makeFolder();
    const plugins = join(home, 'plugins');
    mkdirSync(plugins);
    expect(mount('-t', 'tmpfs', 'tmpfs', plugins)).toBe(true);
    onTestFinished(() => void spawnSync('umount', ['-l', plugins]));
    writeFileSync(join(plugins, 'a.ts'), answering('mounted'));
    const rig = await startRig(shared.get(), { home });
    await until(() => stateOf(rig, 'a') === 'ready', 'the build');
    spawnSync('umount', ['-l', plugins]);
    await rig.supervisor.reloadAll();
    expect(stateOf(rig, 'a')).toBe('ready');
    expect(await rig.call('a')).toBe('mounted');
    expect(mount('-t', 'tmpfs', 'tmpfs', plugins)).toBe(true);
    writeFileSync(join(plugins, 'a.ts'), answering('back'));
    await until(async () => (await rig.call('a')) === 'back', 'the folder to be taken up');
  });
});

describe('a manifest beside a module', () => {
  it.each(['json', 'wasm'])('whose .%s is a link to a file of the host is not read', async (ending) => {
    const rig = await startRig(shared.get());
    const host = join(rig.home, 'host');
    mkdirSync(host);
    const module = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
    const manifest = JSON.stringify({ name: 'm', description: 'SECRET OF THE HOST', export: 'run' });
    writeFileSync(join(host, 'm.json'), manifest);
    writeFileSync(join(host, 'm.wasm'), module);
    for (const each of ['json', 'wasm']) {
      const file = join(rig.plugins, `m.${each}`);
      if (each === ending) symlinkSync(join(host, `m.${each}`), file);
      else writeFileSync(file, each === 'json' ? manifest.replace('SECRET OF THE HOST', 'own') : module);
    }
    await until(() => stateOf(rig, 'm') === 'failed', 'the build');
    const plugin = rig.supervisor.list().find(({ name }) => name === 'm');
    expect(plugin?.diagnostic).toMatchObject({ code: 'import-refused', message: expect.stringContaining(`m.${ending}`) });
    expect(JSON.stringify(rig.events)).not.toContain('SECRET OF THE HOST');
    await expect(rig.supervisor.readSource('m')).rejects.toMatchObject({ code: 'import-refused' });
  });
});
