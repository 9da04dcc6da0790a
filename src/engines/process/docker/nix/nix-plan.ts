import { checkFlakeUrl, checkNixPackage } from './nix-names.ts';

/** Where packages may be named, for one skill. */
export interface NixSources {
  readonly flakeUrl?: string;
  readonly packages: readonly string[];
  /** Contents of `flake.nix`, `shell.nix` and `.nix-packages`, as far as they are there. */
  readonly files: Readonly<Record<string, string>>;
}

/** What is installed, from the source that wins. */
export type NixPlan =
  | { readonly kind: 'none' }
  | { readonly kind: 'flake-url'; readonly url: string }
  | { readonly kind: 'packages'; readonly packages: readonly string[]; readonly from: 'declared' | 'file' }
  | { readonly kind: 'flake-file' }
  | { readonly kind: 'shell-file' };

/** A plan with what it does not use, or why there is none, in a whole sentence. */
export type PlannedNix =
  | { readonly ok: true; readonly plan: NixPlan; readonly shadowed: readonly string[] }
  | { readonly ok: false; readonly reason: string };

const maxPackages = 100;

/**
 * Chooses the source that wins, in the documented order: the address of a flake, declared packages, `flake.nix`, `shell.nix`,
 * `.nix-packages`. What is declared always wins over files; `shadowed` names the sources that lost.
 */
export function planNix({ flakeUrl, packages, files }: NixSources): PlannedNix {
  const has = (name: string): boolean => Object.hasOwn(files, name);
  const sources: { readonly name: string; readonly isThere: boolean; readonly plan: () => PlannedNix }[] = [
    { name: 'the flake address', isThere: flakeUrl !== undefined, plan: () => planUrl(flakeUrl ?? '') },
    { name: 'the declared packages', isThere: packages.length > 0, plan: () => planPackages(packages, 'declared') },
    { name: 'flake.nix', isThere: has('flake.nix'), plan: () => accept({ kind: 'flake-file' }) },
    { name: 'shell.nix', isThere: has('shell.nix'), plan: () => accept({ kind: 'shell-file' }) },
    {
      name: '.nix-packages',
      isThere: has('.nix-packages'),
      plan: () => planPackages(readPackagesFile(files['.nix-packages'] ?? ''), 'file'),
    },
  ];
  const [winner, ...losers] = sources.filter(({ isThere }) => isThere);
  if (winner === undefined) return accept({ kind: 'none' });
  const planned = winner.plan();
  return planned.ok ? { ...planned, shadowed: losers.map(({ name }) => name) } : planned;
}

/**
 * One plan for several skills at once: their packages become one set in the order of the skills. The address of a flake wins
 * over packages; two different ones do not go together, and a file of one skill stands for that skill alone.
 */
export function mergeNixPlans(plans: readonly { readonly owner: string; readonly plan: NixPlan }[]): PlannedNix {
  const wanting = plans.filter(({ plan }) => plan.kind !== 'none');
  const urls = [...new Set(wanting.flatMap(({ plan }) => (plan.kind === 'flake-url' ? plan.url : [])))];
  if (urls.length > 1) return refuse(`The flakes ${urls.join(' and ')} cannot be used together.`);
  const [url] = urls;
  if (url !== undefined) {
    const losers = wanting.filter(({ plan }) => plan.kind !== 'flake-url');
    return { ok: true, plan: { kind: 'flake-url', url }, shadowed: losers.map(({ owner }) => owner) };
  }
  const packages = [...new Set(wanting.flatMap(({ plan }) => (plan.kind === 'packages' ? plan.packages : [])))];
  const ofFiles = wanting.filter(({ plan }) => plan.kind === 'flake-file' || plan.kind === 'shell-file');
  if (packages.length > 0) {
    const planned = planPackages(packages, 'declared');
    return planned.ok ? { ...planned, shadowed: ofFiles.map(({ owner }) => owner) } : planned;
  }
  const [first, second] = ofFiles;
  if (second !== undefined) return refuse(`The files of ${first?.owner} and ${second.owner} cannot be used together.`);
  return accept(first?.plan ?? { kind: 'none' });
}

/** One package a line; empty lines and lines that begin with `#` say nothing. */
function readPackagesFile(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

function planUrl(url: string): PlannedNix {
  const checked = checkFlakeUrl(url);
  return checked.ok ? accept({ kind: 'flake-url', url }) : refuse(`The flake ${quote(url)} ${checked.reason}.`);
}

function planPackages(names: readonly string[], from: 'declared' | 'file'): PlannedNix {
  const packages = [...new Set(names)];
  if (packages.length > maxPackages) return refuse(`At most ${maxPackages} packages can be named; got ${packages.length}.`);
  for (const name of packages) {
    const checked = checkNixPackage(name);
    if (!checked.ok) return refuse(`The package ${quote(name)} ${checked.reason}.`);
  }
  return accept(packages.length === 0 ? { kind: 'none' } : { kind: 'packages', packages, from });
}

function accept(plan: NixPlan): PlannedNix {
  return { ok: true, plan, shadowed: [] };
}

function refuse(reason: string): PlannedNix {
  return { ok: false, reason };
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
