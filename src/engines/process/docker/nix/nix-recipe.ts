import { createHash } from 'node:crypto';
import { quoteWords } from './nix-command.ts';
import type { NixPlan } from './nix-plan.ts';

/** How to make an image that has the packages of a plan. */
export interface NixRecipe {
  /** A Dockerfile. */
  readonly text: string;
  /** Names what is in it: the same plan and base, the same tag. */
  readonly tag: string;
  /** The folder of the skill must be the context of the build, because a file of it says what is installed. */
  readonly needsFolder: boolean;
}

const usualNixImage = 'nixos/nix:2.24.9';
const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const basePattern = /^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,255}$/;

/**
 * The recipe of an image: a first stage installs with Nix, and what came of it is laid over `base`, the image that has the
 * interpreter. The image needs neither Nix nor the network when it runs. Undefined when nothing is to be installed, or when
 * `base` is no name of an image. `nixImage` is what Nix runs in.
 */
export function writeNixRecipe(plan: NixPlan, base: string, nixImage = usualNixImage): NixRecipe | undefined {
  if (plan.kind === 'none' || !basePattern.test(base)) return undefined;
  const lines = [
    `FROM ${nixImage} AS packages`,
    'ENV NIX_CONFIG="experimental-features = nix-command flakes"',
    ...installLines(plan),
    `FROM ${base}`,
    'COPY --from=packages /out/nix /nix',
    `ENV PATH=/nix/hotcell/bin:${usualPath}`,
  ];
  const text = `${lines.join('\n')}\n`;
  const tag = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { text, tag, needsFolder: plan.kind === 'flake-file' || plan.kind === 'shell-file' };
}

function installLines(plan: Exclude<NixPlan, { kind: 'none' }>): string[] {
  switch (plan.kind) {
    case 'packages':
      return [
        `RUN nix-env --profile /nix/hotcell --file '<nixpkgs>' --install --attr ${quoteWords(plan.packages)}`,
        'RUN mkdir -p /out/nix/store \\',
        ' && nix-store --query --requisites /nix/hotcell | xargs cp -a -t /out/nix/store \\',
        ' && ln -s "$(readlink -f /nix/hotcell)" /out/nix/hotcell',
      ];
    case 'flake-url':
      return [`RUN nix develop ${quoteWords([plan.url])} --command ${quoteWords(['sh', '-c', printPath])} > /path`, ...copyPath];
    case 'flake-file':
      return [
        'COPY . /skill',
        `RUN cd /skill && nix develop path:/skill --command ${quoteWords(['sh', '-c', printPath])} > /path`,
        ...copyPath,
      ];
    case 'shell-file':
      return ['COPY . /skill', `RUN cd /skill && nix-shell --run ${quoteWords([printPath])} > /path`, ...copyPath];
  }
}

/** A shell of Nix is its PATH, as far as scripts are concerned. */
const printPath = 'echo "$PATH"';
const copyPath = [
  "RUN tr ':' '\\n' < /path | grep '^/nix/store/' > /folders \\",
  ' && mkdir -p /out/nix/store /out/nix/hotcell/bin \\',
  ' && cut -d/ -f1-4 /folders | sort -u | xargs nix-store --query --requisites | sort -u \\',
  '  | xargs cp -a -t /out/nix/store \\',
  ' && while read -r folder; do for file in "$folder"/*; do \\',
  '      name=/out/nix/hotcell/bin/"$(basename "$file")"; [ -e "$name" ] || [ -L "$name" ] || ln -s "$file" "$name"; \\',
  '    done; done < /folders',
];
