import type { Finding } from '../contracts/daemon.ts';
import { checkBrowser, checkConfig, checkDatabase, checkDataDir, checkPort, checkSearch } from './daemon-checks.ts';
import { checkDocker, checkDockerImages } from './docker-checks.ts';
import type { DoctorFacts } from './doctor-facts.ts';
import { checkDisk, checkNode, checkWatchLimit } from './machine-checks.ts';
import { checkModels } from './model-checks.ts';
import { checkDeno, checkEsbuild } from './program-checks.ts';

type Check = (facts: DoctorFacts) => Finding | Promise<Finding>;

const checks: readonly Check[] = [
  checkNode,
  checkConfig,
  checkDataDir,
  checkDatabase,
  checkDisk,
  checkPort,
  checkWatchLimit,
  checkEsbuild,
  checkDocker,
  checkDockerImages,
  checkSearch,
  checkBrowser,
  checkModels,
  () => checkDeno(),
];

/** Runs every check. `ok` is false when one of them says that Hotcell cannot work. */
export async function runDoctor(facts: DoctorFacts): Promise<{ ok: boolean; items: Finding[]; total: number }> {
  const items = await Promise.all(checks.map(async (check) => check(facts)));
  return { ok: items.every((item) => item.status !== 'fail'), items, total: items.length };
}
