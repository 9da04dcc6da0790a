import type { Finding } from '../contracts/daemon.ts';
import type { Check, DoctorFacts } from './check.ts';
import { checkBrowser, checkConfig, checkDatabase, checkDataDir, checkModels, checkPort, checkSearch } from './daemon-checks.ts';
import { checkDocker, checkDockerImages } from './docker-checks.ts';
import { checkDeno, checkDisk, checkEsbuild, checkNode, checkWatchLimit } from './machine-checks.ts';

const checks: Readonly<Record<string, Check>> = {
  node: checkNode,
  config: checkConfig,
  'data directory': checkDataDir,
  database: checkDatabase,
  disk: checkDisk,
  port: checkPort,
  watches: checkWatchLimit,
  esbuild: checkEsbuild,
  docker: checkDocker,
  images: checkDockerImages,
  'web search': checkSearch,
  browser: checkBrowser,
  models: checkModels,
  deno: () => checkDeno(),
};

/** Runs every check. `ok` is false when one of them says that Hotcell cannot work. */
export async function runDoctor(facts: DoctorFacts): Promise<{ ok: boolean; items: Finding[]; total: number }> {
  const items = await Promise.all(Object.entries(checks).map(async ([name, check]) => ({ name, ...(await check(facts)) })));
  return { ok: items.every(({ status }) => status !== 'fail'), items, total: items.length };
}
