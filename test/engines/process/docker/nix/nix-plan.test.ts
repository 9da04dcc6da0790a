import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildNixCommand, quoteWords } from '../../../../../src/engines/process/docker/nix/nix-command.ts';
import { checkFlakeUrl, checkNixPackage } from '../../../../../src/engines/process/docker/nix/nix-names.ts';
import { mergeNixPlans, type NixPlan, type NixSources, planNix } from '../../../../../src/engines/process/docker/nix/nix-plan.ts';

const declared = (...packages: string[]): NixPlan => ({ kind: 'packages', packages, from: 'declared' });

describe('planNix', () => {
  const flakeUrl = 'github:user/my-agent-env';
  const files = { 'flake.nix': '{}', 'shell.nix': '{}', '.nix-packages': 'jq\n' };
  const cases: readonly [string, NixSources, NixPlan, readonly string[]][] = [
    ['nothing', { packages: [], files: {} }, { kind: 'none' }, []],
    [
      'the address of a flake before all else',
      { flakeUrl, packages: ['jq'], files },
      { kind: 'flake-url', url: flakeUrl },
      ['the declared packages', 'flake.nix', 'shell.nix', '.nix-packages'],
    ],
    [
      'declared packages before files',
      { packages: ['ffmpeg', 'imagemagick', 'ffmpeg'], files },
      declared('ffmpeg', 'imagemagick'),
      ['flake.nix', 'shell.nix', '.nix-packages'],
    ],
    ['flake.nix before shell.nix', { packages: [], files }, { kind: 'flake-file' }, ['shell.nix', '.nix-packages']],
    [
      'shell.nix before .nix-packages',
      { packages: [], files: { 'shell.nix': '{}', '.nix-packages': 'jq' } },
      { kind: 'shell-file' },
      ['.nix-packages'],
    ],
    [
      '.nix-packages last, a package a line',
      { packages: [], files: { '.nix-packages': '# tools\njq\r\n\n  ripgrep\njq\n' } },
      { kind: 'packages', packages: ['jq', 'ripgrep'], from: 'file' },
      [],
    ],
    ['an empty .nix-packages as nothing', { packages: [], files: { '.nix-packages': '# none\n' } }, { kind: 'none' }, []],
  ];

  it.each(cases)('takes %s', (_what, sources, plan, shadowed) => {
    expect(planNix(sources)).toEqual({ ok: true, plan, shadowed });
  });

  it('refuses hostile names, wherever they stand', () => {
    expect(planNix({ packages: ['jq; rm -rf /'], files: {} })).toMatchObject({ ok: false });
    expect(planNix({ packages: [], files: { '.nix-packages': '(import ./evil.nix)' } })).toMatchObject({ ok: false });
    expect(planNix({ flakeUrl: 'path:/etc', packages: [], files: {} })).toMatchObject({ ok: false });
  });
});

describe('mergeNixPlans', () => {
  const merge = (...plans: NixPlan[]) => mergeNixPlans(plans.map((plan, at) => ({ owner: `skill-${at}`, plan })));

  it('makes one set of the packages of all skills, in their order', () => {
    expect(merge(declared('jq', 'pandoc'), { kind: 'none' }, declared('ripgrep', 'jq'))).toEqual({
      ok: true,
      plan: declared('jq', 'pandoc', 'ripgrep'),
      shadowed: [],
    });
  });

  it('lets a flake win, and says whose packages are not used', () => {
    const url = 'github:user/env';
    expect(merge(declared('jq'), { kind: 'flake-url', url }, { kind: 'flake-url', url })).toEqual({
      ok: true,
      plan: { kind: 'flake-url', url },
      shadowed: ['skill-0'],
    });
  });

  it('refuses two different flakes, and files of two skills', () => {
    expect(merge({ kind: 'flake-url', url: 'github:a/b' }, { kind: 'flake-url', url: 'github:c/d' })).toMatchObject({
      ok: false,
      reason: 'The flakes github:a/b and github:c/d cannot be used together.',
    });
    expect(merge({ kind: 'flake-file' }, { kind: 'shell-file' })).toMatchObject({ ok: false });
  });

  it('lets packages win over the file of another skill, and a single file stand for itself', () => {
    expect(merge({ kind: 'shell-file' }, declared('jq'))).toMatchObject({ plan: declared('jq'), shadowed: ['skill-0'] });
    expect(merge({ kind: 'none' }, { kind: 'shell-file' })).toMatchObject({ plan: { kind: 'shell-file' } });
    expect(merge()).toMatchObject({ plan: { kind: 'none' } });
  });
});

describe('buildNixCommand', () => {
  const command = ['bun', 'run', 'src/index.ts'];
  it.each<[NixPlan, string[]]>([
    [{ kind: 'none' }, command],
    [declared('ffmpeg', 'imagemagick'), ['nix-shell', '-p', 'ffmpeg', 'imagemagick', '--command', 'bun run src/index.ts']],
    [{ kind: 'flake-url', url: 'github:u/e' }, ['nix', 'develop', 'github:u/e', '--command', ...command]],
    [{ kind: 'flake-file' }, ['nix', 'develop', '.', '--command', ...command]],
    [{ kind: 'shell-file' }, ['nix-shell', '--command', 'bun run src/index.ts']],
  ])('of %j', (plan, words) => {
    expect(buildNixCommand(plan, command)).toEqual(words);
  });

  it('quotes what a shell would read otherwise', () => {
    expect(quoteWords(['echo', "it's", '$(id)', 'a b'])).toBe(`echo 'it'\\''s' '$(id)' 'a b'`);
  });
});

describe('checkNixPackage', () => {
  it.each(['jq', 'ripgrep', 'python3Packages.requests', 'nodePackages.typescript-language-server', '_7zz'])(
    'accepts %s',
    (name) => {
      expect(checkNixPackage(name)).toEqual({ ok: true });
    },
  );

  it.each([
    '',
    '-p',
    '--option',
    'jq ripgrep',
    'jq;id',
    '$(id)',
    '`id`',
    '(import /etc/passwd)',
    'builtins.exec',
    'import',
    '"jq"',
    "jq'",
    'jq\nRUN id',
    '../jq',
    './x.nix',
    'jq.override{}',
    '<nixpkgs>',
    'ｊｑ',
    'j'.repeat(129),
    '.jq',
    'jq.',
  ])('refuses %j', (name) => {
    expect(checkNixPackage(name).ok).toBe(false);
  });

  it('lets nothing through that a shell or a Dockerfile would read as more than a word', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (name) => {
        if (checkNixPackage(name).ok) expect(quoteWords([name])).toBe(name);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('checkFlakeUrl', () => {
  it.each([
    'github:user/my-agent-env',
    'github:NixOS/nixpkgs/nixos-24.05#jq',
    'gitlab:group/project?dir=sub',
    'git+https://git.example.com/env.git?ref=main',
    'https://example.com/env.tar.gz',
  ])('accepts %s', (url) => {
    expect(checkFlakeUrl(url)).toEqual({ ok: true });
  });

  it.each([
    '.',
    '/etc',
    'path:/etc',
    'path:.',
    'file:///etc/passwd',
    'git+file:///srv/x',
    'git+ssh://git@example.com/x',
    'http://example.com/x.tar.gz',
    'github:user/env --impure',
    "github:user/env';id;'",
    'github:user/../..',
    'https://example.com/../x',
    'nixpkgs',
    'github:user/env?dir=$(id)',
    'github:user/env#a b',
    `github:user/${'x'.repeat(600)}`,
  ])('refuses %j', (url) => {
    expect(checkFlakeUrl(url).ok).toBe(false);
  });
});
