import {
  type DaemonProcess,
  makeDaemonFolder,
  removeDaemonFolder,
  startDaemonProcess,
} from '../../test/promises/daemon-process.ts';
import { attacks, listHostilePlugins } from '../../test/promises/hostile-plugins.ts';
import { callNeighbour } from '../../test/promises/neighbour-load.ts';
import { type Row, summarise } from '../measure.ts';

const CALLS = 200;
const ROUNDS = 2;
const MAX_RATIO = 3;

const daemon = await startDaemonProcess(makeDaemonFolder(listHostilePlugins(), { grantRequested: true }));
await callNeighbour(daemon, 2000);

const idle: number[] = [];
const attacked: number[] = [];
const hammered: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  for (const { name } of attacks) {
    // Idle and attack in turns, so that what else the machine does hits both.
    idle.push(...(await sample()));
    attacked.push(...(await sampleUnder(() => daemon.call(name))));
    hammered.push(...(await sampleUnder(createHammer(daemon, name))));
  }
}
await daemon.stop();
removeDaemonFolder(daemon.folder);

const rows: Row[] = [
  describe(`a neighbour over HTTP, ${CALLS} calls beside each of ${attacks.length} attacks`, attacked),
  describe('the same, each attack again and again without a pause', hammered),
];
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);

function describe(name: string, samples: readonly number[]): Row {
  const under = summarise(samples);
  const { p99 } = summarise(idle);
  const ratio = under.p99 / p99;
  return {
    name,
    unit: 'ms',
    ...under,
    peer: { name: 'idle p99', p50: p99 },
    ratio,
    ratioOf: 'p99 over idle p99:',
    target: `<= ${MAX_RATIO}`,
    met: ratio <= MAX_RATIO,
  };
}

async function sample(): Promise<readonly number[]> {
  const { latenciesMs, failures } = await callNeighbour(daemon, CALLS);
  if (failures.length > 0) throw new Error(`the neighbour failed: ${JSON.stringify(failures[0])}`);
  return latenciesMs;
}

async function sampleUnder(attack: (signal: AbortSignal) => Promise<unknown>): Promise<readonly number[]> {
  const over = new AbortController();
  const attacking = attack(over.signal).catch(() => undefined);
  const latencies = await sample();
  over.abort();
  await attacking;
  return latencies;
}

/** Attacks until it is told to stop; a quarantined plugin is refused, which is as good as any other end. */
function createHammer(target: DaemonProcess, attack: string): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    while (!signal.aborted) await target.call(attack).catch(() => undefined);
  };
}
