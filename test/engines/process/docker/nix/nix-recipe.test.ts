import { describe, expect, it } from 'vitest';
import { writeNixRecipe } from '../../../../../src/engines/process/docker/nix/nix-recipe.ts';

describe('writeNixRecipe', () => {
  it('installs the packages in a first stage and lays them over the image of the interpreter', () => {
    const recipe = writeNixRecipe({ kind: 'packages', packages: ['jq', 'pandoc'], from: 'declared' }, 'python:3.12-alpine');
    expect(recipe?.needsFolder).toBe(false);
    expect(recipe?.text).toBe(`FROM nixos/nix:2.24.9 AS packages
ENV NIX_CONFIG="experimental-features = nix-command flakes"
RUN nix-env --profile /nix/hotcell --file '<nixpkgs>' --install --attr jq pandoc
RUN mkdir -p /out/nix/store \\
 && nix-store --query --requisites /nix/hotcell | xargs cp -a -t /out/nix/store \\
 && ln -s "$(readlink -f /nix/hotcell)" /out/nix/hotcell
FROM python:3.12-alpine
COPY --from=packages /out/nix /nix
ENV PATH=/nix/hotcell/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
`);
  });

  it('has the shell of a flake as the PATH that it makes', () => {
    const { text = '', needsFolder } = writeNixRecipe({ kind: 'flake-url', url: 'github:u/e#x' }, 'alpine:3.20') ?? {};
    expect(text).toContain("RUN nix develop 'github:u/e#x' --command sh -c 'echo \"$PATH\"' > /path");
    expect(needsFolder).toBe(false);
  });

  it.each(['flake-file', 'shell-file'] as const)('needs the folder of the skill for a %s', (kind) => {
    const recipe = writeNixRecipe({ kind }, 'alpine:3.20');
    expect(recipe?.needsFolder).toBe(true);
    expect(recipe?.text).toContain('COPY . /skill');
  });

  it('names the same thing alike, and another thing otherwise', () => {
    const tagOf = (packages: string[], base: string) =>
      writeNixRecipe({ kind: 'packages', packages, from: 'declared' }, base)?.tag;
    expect(tagOf(['jq'], 'a:1')).toBe(tagOf(['jq'], 'a:1'));
    expect(tagOf(['jq'], 'a:1')).not.toBe(tagOf(['jq'], 'a:2'));
    expect(tagOf(['jq'], 'a:1')).not.toBe(tagOf(['yq'], 'a:1'));
  });

  it('writes none for nothing, and none over a base that is no name of an image', () => {
    expect(writeNixRecipe({ kind: 'none' }, 'alpine:3.20')).toBeUndefined();
    expect(writeNixRecipe({ kind: 'shell-file' }, 'alpine\nRUN id')).toBeUndefined();
  });
});
