import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

// `npm run test:long [STEP…]`: what needs minutes or hours. Every step runs, also after one that failed; the last line counts them.
const root = fileURLToPath(new URL('../', import.meta.url));
const vitest = ['node_modules/vitest/vitest.mjs', 'run'];

interface Step {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const steps: readonly Step[] = [
  { name: 'mutants', args: ['scripts/mutants.ts'] },
  { name: 'reloads', args: [...vitest, 'test/promises/no-dropped-calls.test.ts'], env: { HOTCELL_RELOADS: '1000' } },
  { name: 'kills', args: [...vitest, 'test/promises/crash-recovery.test.ts'], env: { HOTCELL_KILLS: '50' } },
  { name: 'fuzz', args: [...vitest, 'test/promises/fuzz-'], env: { HOTCELL_FUZZ_RUNS: '100000' } },
  { name: 'messages', args: [...vitest, 'test/models/wire/generated.test.ts'], env: { HOTCELL_FUZZ_RUNS: '5000' } },
  {
    name: 'streams',
    args: [...vitest, 'test/gateway/hostile.test.ts', '-t', 'streams that nobody reads'],
    env: { HOTCELL_STREAMS: '500' },
  },
  {
    name: 'counts',
    args: [...vitest, 'test/engines/quickjs', 'test/promises/native-answers.test.ts'],
    env: { HOTCELL_LONG: '1' },
  },
  { name: 'chaos', args: [...vitest, 'test/plugins/lifecycle-chaos.test.ts'], env: { HOTCELL_CHAOS_RUNS: '300' } },
  {
    name: 'template',
    args: [...vitest, 'test/scripts/build-template.test.ts', 'test/scripts/build-quickjs.test.ts'],
    env: { HOTCELL_LONG: '1' },
  },
  { name: 'storms', args: [...vitest, 'test/plugins/save-storms.test.ts'], env: { HOTCELL_LONG: '1' } },
  { name: 'writes', args: [...vitest, 'test/capabilities/files/killed-write.test.ts'], env: { HOTCELL_LONG: '1' } },
  { name: 'package', args: [...vitest, 'test/package.test.ts'], env: { HOTCELL_LONG: '1' } },
  { name: 'replays', args: [...vitest, 'test/replay/example-plugins.test.ts'], env: { HOTCELL_REPLAYS: '1000' } },
  { name: 'fixers', args: [...vitest, 'test/repair/fixers/fixers.test.ts'], env: { HOTCELL_LONG: '1' } },
  { name: 'scripts', args: [...vitest, 'test/promises/scripts-survive.test.ts'], env: { HOTCELL_LONG: '1' } },
  { name: 'repairs', args: [...vitest, 'test/promises/repairs-survive.test.ts'], env: { HOTCELL_LONG: '1' } },
  { name: 'browser', args: [...vitest, 'test/builtins/browser'], env: { HOTCELL_LONG: '1' } },
  { name: 'web', args: [...vitest, 'test/builtins/web'], env: { HOTCELL_LONG: '1' } },
  { name: 'pages', args: [...vitest, 'test/docs/code-blocks.test.ts'], env: { HOTCELL_LONG: '1' } },
  { name: 'soak', args: [...vitest, '--config', 'test/long/vitest.config.ts'] },
];

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !steps.some((step) => step.name === name));
if (unknown.length > 0) {
  console.error(`No such step: ${unknown.join(', ')}. There are: ${steps.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}

const failed: string[] = [];
const chosen = steps.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
for (const { name, args, env } of chosen) {
  console.log(`\n=== ${name}`);
  const startedAt = performance.now();
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(`=== ${name} ${status === 0 ? 'passed' : 'FAILED'} after ${seconds} s`);
  if (status !== 0) failed.push(name);
}
console.log(
  `\n${chosen.length - failed.length} passed, ${failed.length} failed${failed.length === 0 ? '' : `: ${failed.join(', ')}`}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
