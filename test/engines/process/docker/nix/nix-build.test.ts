import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NixPlan } from '../../../../../src/engines/process/docker/nix/nix-plan.ts';
import { writeNixRecipe } from '../../../../../src/engines/process/docker/nix/nix-recipe.ts';
import { describeDocker, testImages } from '../docker-machine.ts';

// Nix itself fetches from the network. Its commands are stood in for by scripts that make a store of the same shape, so that all
// else of a recipe is what really happens: stages, links, the closure of what is installed, the PATH of the result.
const nixDouble = 'hotcell-test/nix-double:1';
const made = 'hotcell-test/nix-made:1';
const label = 'dev.hotcell.test=nix-double';

const store = `
mkdir -p /nix/store/aaa-libjson /nix/store/bbb-jq/bin /nix/store/ccc-profile/bin /nix/store/ddd-unused
echo data > /nix/store/aaa-libjson/data
printf '#!/bin/sh\\necho "jq with $(cat /nix/store/aaa-libjson/data)"\\n' > /nix/store/bbb-jq/bin/jq
chmod +x /nix/store/bbb-jq/bin/jq
ln -sf /nix/store/bbb-jq/bin/jq /nix/store/ccc-profile/bin/jq
`;
const scripts = {
  'nix-env': `#!/bin/sh\nset -e\n[ "$*" = "--profile /nix/hotcell --file <nixpkgs> --install --attr jq" ] || { echo "odd: $*"; exit 9; }${store}
ln -s /nix/store/ccc-profile /nix/hotcell-1-link; ln -s hotcell-1-link /nix/hotcell\n`,
  'nix-store': `#!/bin/sh
for path in "$@"; do case "$path" in
  --*) ;;
  *bbb-jq) echo /nix/store/aaa-libjson; echo /nix/store/bbb-jq ;;
  *) echo /nix/store/aaa-libjson; echo /nix/store/bbb-jq; echo /nix/store/ccc-profile ;;
esac; done\n`,
  nix: `#!/bin/sh\nset -e${store}
[ "$1 $3" = "develop --command" ] || exit 9
shift 3; PATH=/nix/store/bbb-jq/bin:$PATH exec "$@"\n`,
  'nix-shell': `#!/bin/sh\nset -e${store}
[ "$1" = --run ] && [ -f shell.nix ] || exit 9
PATH=/nix/store/bbb-jq/bin:$PATH exec sh -c "$2"\n`,
};
const applets = [
  ...[
    'sh',
    'cat',
    'mkdir',
    'ln',
    'cp',
    'chmod',
    'readlink',
    'xargs',
    'tr',
    'cut',
    'sort',
    'grep',
    'basename',
    'printf',
    'echo',
    '[',
  ],
];

function docker(args: readonly string[], input?: string) {
  return spawnSync('docker', args, { encoding: 'utf8', ...(input === undefined ? {} : { input }) });
}

describeDocker('the recipe of writeNixRecipe', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'hotcell-nix-'));
    const root = join(folder, 'root');
    for (const name of ['bin', 'tmp', 'nix']) mkdirSync(join(root, name), { recursive: true });
    cpSync('/bin/busybox', join(root, 'bin/busybox'));
    for (const name of applets) symlinkSync('busybox', join(root, 'bin', name));
    for (const [name, text] of Object.entries(scripts)) {
      writeFileSync(join(root, 'bin', name), text);
      chmodSync(join(root, 'bin', name), 0o755);
    }
    const imported = spawnSync('sh', ['-c', `tar -C "${root}" -c . | docker import -c 'LABEL ${label}' - ${nixDouble}`], {
      encoding: 'utf8',
    });
    expect(imported.stderr).toBe('');
  });
  afterAll(() => {
    docker(['image', 'rm', '-f', made, nixDouble]);
    // What the first stages left has the label of the image that they began with.
    docker(['image', 'prune', '-f', '--filter', `label=${label}`]);
    rmSync(folder, { recursive: true, force: true });
  });

  it.each<[string, NixPlan]>([
    ['packages', { kind: 'packages', packages: ['jq'], from: 'declared' }],
    ['the address of a flake', { kind: 'flake-url', url: 'github:user/env#shell' }],
    ['a flake.nix', { kind: 'flake-file' }],
    ['a shell.nix', { kind: 'shell-file' }],
  ])('makes an image of %s that runs without Nix', { timeout: 120_000 }, (_what, plan) => {
    const recipe = writeNixRecipe(plan, testImages.box, nixDouble);
    const context = join(folder, 'skill');
    mkdirSync(context, { recursive: true });
    writeFileSync(join(context, 'shell.nix'), '{}');
    writeFileSync(join(context, 'flake.nix'), '{}');
    const where = recipe?.needsFolder ? ['-f', '-', context] : ['-'];
    const built = docker(['build', '--force-rm', '--network', 'none', '-t', made, ...where], recipe?.text);
    expect(built.status, built.stdout + built.stderr).toBe(0);
    const ran = docker(['run', '--rm', '--network', 'none', made, '/bin/sh', '-c', 'jq; ls /nix/store; which nix-env']);
    expect(ran.stdout).toMatch(/^jq with data\naaa-libjson\nbbb-jq\n/);
    expect(ran.stdout).not.toContain('ddd-unused');
    docker(['image', 'rm', '-f', made]);
  });
});
