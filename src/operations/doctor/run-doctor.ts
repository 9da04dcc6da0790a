import type { Config } from '../../config/config-types.ts';
import type { Store } from '../../store/store-types.ts';
import type { Finding } from '../contracts/daemon.ts';
import { checkDatabase, checkDataDir, checkPort } from './daemon-checks.ts';
import { checkDocker, checkDockerImages } from './docker-checks.ts';
import { checkDisk, checkNode, checkWatchLimit } from './machine-checks.ts';
import { checkDeno, checkEsbuild } from './program-checks.ts';

/** What is examined. `isServing` says that a daemon holds the port already. */
export interface DoctorFacts {
  readonly config: Config;
  readonly isServing: boolean;
  /** The store of the daemon that serves. */
  readonly store?: Pick<Store, 'problem' | 'examine'>;
}

type Check = (facts: DoctorFacts) => Finding | Promise<Finding>;

const checks: readonly Check[] = [
  checkNode,
  checkDataDir,
  checkDatabase,
  checkDisk,
  checkPort,
  checkWatchLimit,
  checkEsbuild,
  checkDocker,
  checkDockerImages,
  () => checkDeno(),
];

/** Runs every check. `ok` is false when one of them says that Hotcell cannot work. */
export async function runDoctor(facts: DoctorFacts): Promise<{ ok: boolean; items: Finding[]; total: number }> {
  const items = await Promise.all(checks.map(async (check) => check(facts)));
  return { ok: items.every((item) => item.status !== 'fail'), items, total: items.length };
}
