import { join } from 'node:path';
import Type from 'typebox';
import Value from 'typebox/value';
import { createDockerClient, describeDockerError, findDockerSocket } from '../../engines/process/docker/docker-client.ts';
import { createImageBook } from '../../engines/process/docker/images/image-book.ts';
import { describeImageUses } from '../../engines/process/docker/images/image-uses.ts';
import { type Check, type Examination, info, ok, warn } from './check.ts';

const deadlineMs = 3000;

/** Does Docker, or Podman in its place, answer, and can it keep what a sandbox needs? Only native commands need it. */
export const checkDocker: Check = async ({ config }) => {
  const isNeeded = Object.keys(config.docker.commands).length > 0 || config.docker.pluginImage !== '';
  const lack = (message: string, fix: string): Examination => (isNeeded ? warn(message, fix) : info(message, fix));
  try {
    const place = { socket: config.docker.socket, env: process.env };
    const docker = await createDockerClient(place)();
    const [facts, version]: unknown[] = await within(Promise.all([docker.info(), docker.version()]));
    const lacking = findLacks(facts);
    const where = `${nameEngine(version)} answers at ${findDockerSocket(place)}`;
    if (lacking.length === 0) return ok(`${where}.`);
    return lack(
      `${where}, but it lacks what sandboxes need: ${lacking.join(', ')}.`,
      'Switch these on in the kernel or in the settings of Docker; commands are refused without them.',
    );
  } catch (error) {
    const { message, fix } = describeDockerError(error, 'only for native commands and plugins in containers');
    return lack(message, fix);
  }
};

/** Are the images there that the config needs? */
export const checkDockerImages: Check = async ({ config }) => {
  const uses = describeImageUses(config);
  const needed = [...uses].filter(([, users]) => users.length > 0).map(([image]) => image);
  if (needed.length === 0) return ok('The config needs no image.');
  try {
    const docker = createDockerClient({ socket: config.docker.socket, env: process.env });
    const book = createImageBook({ docker, allowed: () => needed, pinFile: join(config.dataDir, 'docker-images.json') });
    const states = await book.list();
    const bad = states.filter(({ status }) => status !== 'present');
    if (bad.length === 0) return ok(`All ${needed.length} images of the config are there.`);
    return warn(`${bad.map(({ name, status }) => `${name} is ${status}`).join(', ')}.`, bad.map(({ fix }) => fix).join('; '));
  } catch {
    return info('Not asked: Docker does not answer.');
  }
};

/** A socket that takes the question and never answers is no engine. */
function within<Answer>(asking: Promise<Answer>): Promise<Answer> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('it did not answer in time')), deadlineMs);
  return Promise.race([asking, late]).finally(() => clearTimeout(timer));
}

const versionSchema = Type.Object({ Version: Type.String(), Components: Type.Array(Type.Object({ Name: Type.String() })) });

/** `Docker 20.10.24`, `Podman 4.3.1`. */
function nameEngine(answer: unknown): string {
  if (!Value.Check(versionSchema, answer)) return 'Docker';
  const isPodman = answer.Components.some(({ Name }) => Name.startsWith('Podman'));
  return `${isPodman ? 'Podman' : 'Docker'} ${answer.Version.slice(0, 40)}`;
}

function findLacks(info: unknown): string[] {
  if (typeof info !== 'object' || info === null) return ['an answer that can be read'];
  const facts = new Map<string, unknown>(Object.entries(info));
  const flags = {
    MemoryLimit: 'memory limits',
    SwapLimit: 'swap limits',
    PidsLimit: 'limits of processes',
    CpuCfsQuota: 'cpu limits',
  };
  const lacking = Object.entries(flags).flatMap(([key, words]) => (facts.get(key) === false ? [words] : []));
  const security = facts.get('SecurityOptions');
  const hasSeccomp = Array.isArray(security) && security.some((option) => String(option).includes('seccomp'));
  return hasSeccomp ? lacking : [...lacking, 'seccomp'];
}
