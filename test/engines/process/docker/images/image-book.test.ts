import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createImageBook } from '../../../../../src/engines/process/docker/images/image-book.ts';
import { describeDocker, testImages } from '../docker-machine.ts';

const docker = new Docker({ socketPath: '/var/run/docker.sock' });
const repository = `hotcell-test/moved-${process.pid}`;
const name = `${repository}:1`;
const tag = (image: string) => docker.getImage(image).tag({ repo: repository, tag: '1' });
const untag = () =>
  docker
    .getImage(name)
    .remove()
    .catch(() => undefined);

describeDocker('createImageBook', () => {
  let folder: string;
  const open = (allowed = [name, testImages.box]) =>
    createImageBook({ docker: async () => docker, allowed: () => allowed, pinFile: join(folder, 'deep/pins.json') });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hotcell-images-'));
  });
  afterEach(async () => {
    await untag();
    rmSync(folder, { recursive: true });
  });

  it('stays with what a name meant at its first use, until an operator accepts the other', async () => {
    await tag(testImages.box);
    const first = await open().resolve(name);
    await tag(testImages.tools);
    const moved = open();
    expect(await moved.resolve(name)).toEqual(first);
    const [state] = await moved.list();
    expect(state).toMatchObject({
      name,
      status: 'changed',
      id: first.id,
      fix: expect.stringContaining(`hotcell images accept ${name}`),
    });
    const accepted = await moved.accept(name);
    expect(accepted).toMatchObject({ status: 'present', id: state?.newId });
    expect((await moved.resolve(name)).id).toBe(state?.newId);
    expect((await open().resolve(name)).id).toBe(state?.newId);
  });

  it('refuses a name that means another image when the first one is gone', async () => {
    await tag(testImages.box);
    const { id } = await open().resolve(name);
    const pins = join(folder, 'deep/pins.json');
    const gone = id.replace(/[0-9a-f]{8}$/, '00000000');
    writeFileSync(pins, readFileSync(pins, 'utf8').replace(id, gone));
    await expect(open().resolve(name)).rejects.toMatchObject({ code: 'image-changed' });
    expect(await open().accept(name)).toMatchObject({ status: 'present', id });
  });

  it('knows no image beyond the list, names near ones, and pulls none', async () => {
    const book = open([testImages.box, 'hotcell-test/never:1']);
    await expect(book.resolve('hotcell-test/bok:2')).rejects.toMatchObject({
      code: 'image-refused',
      fix: expect.stringContaining(testImages.box),
    });
    await expect(book.accept(testImages.tools)).rejects.toMatchObject({ code: 'image-refused' });
    await expect(book.resolve('hotcell-test/never:1')).rejects.toMatchObject({ code: 'image-missing' });
    await expect(book.accept('hotcell-test/never:1')).rejects.toMatchObject({ code: 'image-missing' });
    expect((await book.list()).map(({ status }) => status)).toEqual(['present', 'missing']);
  });

  it('keeps the pins for the owner alone, and refuses a file that is none', async () => {
    await open().resolve(testImages.box);
    const file = join(folder, 'deep/pins.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const content of ['', '[]', '{"x":"latest"}', '{"x":1}']) {
      writeFileSync(file, content);
      await expect(open().resolve(testImages.box)).rejects.toMatchObject({ code: 'storage-damaged' });
    }
  });

  it('refuses an image that would write to the disk of this machine', async () => {
    const made = spawnSync('sh', ['-c', `printf '' | tar -c -T - | docker import --change 'VOLUME /data' - ${name}`], {
      encoding: 'utf8',
    });
    expect(made.status).toBe(0);
    await expect(open().resolve(name)).rejects.toMatchObject({
      code: 'image-refused',
      message: `The image ${name} declares volumes (/data).`,
    });
  });
});
