import { prepareChromium } from './test-machine/chromium.ts';
import { prepareDocker } from './test-machine/docker.ts';

// Runs before `npm test`: gets what the tests drive for real. What cannot be had is said, with the way to get it, and its
// tests are skipped; under CI=true a missing part fails.
const parts = [
  { name: 'docker', prepare: prepareDocker },
  { name: 'chromium', prepare: prepareChromium },
];

let isMissing = false;
for (const { name, prepare } of parts) {
  const problem = await prepare().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
  if (problem === undefined) continue;
  isMissing = true;
  console.log(`\nMissing for the tests: ${name}. ${problem}\nIts tests are skipped.\n`);
}
if (isMissing && process.env.CI === 'true') {
  console.error('CI=true: a missing part fails.');
  process.exit(1);
}
