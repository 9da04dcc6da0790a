import { readFileSync } from 'node:fs';
import type Docker from 'dockerode';
import Type from 'typebox';
import Value from 'typebox/value';
import type { GuestUsage } from '../../guest-process.ts';

/** Reads the usage of one container; undefined when it is not known, or not known yet. */
export type UsageMeter = () => GuestUsage | undefined;

const nsPerMs = 1e6;
const usPerMs = 1000;

/**
 * Makes the meter of a running container. Its control group is read where this machine shows it, which takes no time; else
 * Docker is asked, which answers about once in a second: the meter then tells what was heard last.
 */
export async function openUsageMeter(container: Docker.Container): Promise<UsageMeter> {
  const { Id: id, State: state } = await container.inspect();
  const read = findGroupReader(id, state.Pid);
  return read ?? askDocker(container);
}

/** A number of a process means another one in another namespace: the group must bear the id of the container. */
function findGroupReader(id: string, pid: number): UsageMeter | undefined {
  const groups = readText(`/proc/${pid}/cgroup`)
    .split('\n')
    .map((line) => line.split(':'))
    .filter(([, , path]) => path?.includes(id));
  const folderOf = (controller: string): string[] =>
    groups
      .filter(([, names = '']) => names.split(',').includes(controller))
      .flatMap(([, names = '', path = '']) => [`/sys/fs/cgroup/${names}${path}`, `/sys/fs/cgroup/${controller}${path}`]);
  const unified = groups.filter(([number]) => number === '0').map(([, , path = '']) => `/sys/fs/cgroup${path}`);
  const readers = [
    ...unified.map((folder) => () => readUnified(folder)),
    ...folderOf('cpuacct').flatMap((cpu) => folderOf('memory').map((memory) => () => readSplit(cpu, memory))),
  ];
  return readers.find((read) => read() !== undefined);
}

/** The second version of control groups: one folder. */
function readUnified(folder: string): GuestUsage | undefined {
  const cpu = readNumber(readText(`${folder}/cpu.stat`), 'usage_usec');
  const memory = readText(`${folder}/memory.stat`);
  const [anonymous, shared] = [readNumber(memory, 'anon'), readNumber(memory, 'shmem')];
  if (cpu === undefined || anonymous === undefined) return undefined;
  return { cpuMs: cpu / usPerMs, rssBytes: anonymous + (shared ?? 0) };
}

/** The first version: a folder for each controller. */
function readSplit(cpuFolder: string, memoryFolder: string): GuestUsage | undefined {
  const cpu = readText(`${cpuFolder}/cpuacct.usage`).trim();
  const memory = readText(`${memoryFolder}/memory.stat`);
  const [resident, shared] = [readNumber(memory, 'rss'), readNumber(memory, 'shmem')];
  if (cpu === '' || resident === undefined) return undefined;
  return { cpuMs: Number(cpu) / nsPerMs, rssBytes: resident + (shared ?? 0) };
}

const statsSchema = Type.Object({
  cpu_stats: Type.Object({ cpu_usage: Type.Object({ total_usage: Type.Number() }) }),
  memory_stats: Type.Object({ usage: Type.Optional(Type.Number()) }),
});

function askDocker(container: Docker.Container): UsageMeter {
  let last: GuestUsage | undefined;
  let isAsking = false;
  const ask = async (): Promise<void> => {
    const stats: unknown = await container.stats({ stream: false, 'one-shot': true });
    if (!Value.Check(statsSchema, stats)) return;
    last = { cpuMs: stats.cpu_stats.cpu_usage.total_usage / nsPerMs, rssBytes: stats.memory_stats.usage ?? 0 };
  };
  return () => {
    if (!isAsking) {
      isAsking = true;
      // A container that is gone has no usage any more; whoever runs it hears of its end elsewhere.
      ask()
        .catch(() => undefined)
        .finally(() => {
          isAsking = false;
        });
    }
    return last;
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

function readNumber(text: string, name: string): number | undefined {
  const found = new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}
