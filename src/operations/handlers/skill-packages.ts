import type { Config } from '../../config/config-types.ts';
import type { ImageBook } from '../../engines/process/docker/images/image-book.ts';
import { buildNixCommand, quoteWords } from '../../engines/process/docker/nix/nix-command.ts';
import { mergeNixPlans, type NixPlan, planNix } from '../../engines/process/docker/nix/nix-plan.ts';
import { writeNixRecipe } from '../../engines/process/docker/nix/nix-recipe.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { Skill } from '../../skills/skill-types.ts';
import type { SkillPackagesView } from '../contracts/skills.ts';

/** What packages are described from. */
export interface PackageFacts {
  /** The first one names the image; those after it have their packages in it, too. */
  readonly skills: readonly Skill[];
  /** The image over which the packages are laid. */
  readonly base: string | undefined;
  readonly config: Pick<Config, 'skills' | 'docker'>;
  readonly images: Pick<ImageBook, 'list'>;
}

/** Which packages skills ask for, how an image with them is made, and whether one is there. Nothing is built or fetched. */
export async function describeSkillPackages({ skills, base, config, images }: PackageFacts): Promise<SkillPackagesView> {
  const names = skills.map(({ manifest }) => manifest.name);
  const [name = ''] = names;
  const empty = { skills: names, source: 'none' as const, packages: [], shadowed: [] };
  const plans: { readonly owner: string; readonly plan: NixPlan }[] = [];
  const shadowed: string[] = [];
  for (const { manifest, nixFiles } of skills) {
    const planned = planNix({ ...manifest.nix, files: nixFiles });
    if (!planned.ok) return { ...empty, problem: `The skill "${manifest.name}": ${planned.reason}` };
    plans.push({ owner: manifest.name, plan: planned.plan });
    shadowed.push(...planned.shadowed.map((source) => `${source} of ${manifest.name}`));
  }
  const merged = mergeNixPlans(plans);
  if (!merged.ok) return { ...empty, problem: merged.reason };
  const { plan } = merged;
  if (plan.kind === 'none') return empty;
  const view = {
    skills: names,
    source: plan.kind,
    packages: plan.kind === 'packages' ? [...plan.packages] : [],
    shadowed: [...shadowed, ...merged.shadowed.map((owner) => `all of ${owner}`)],
    command: quoteWords(buildNixCommand(plan, sampleRun(skills))),
  };
  const own = Object.hasOwn(config.skills.images, name) ? config.skills.images[name] : undefined;
  const image = own === undefined ? undefined : await lookAt(own, images);
  const from = base ?? findBase(skills, config);
  const recipe = from === undefined ? undefined : writeNixRecipe(plan, from);
  if (recipe === undefined) {
    const problem = 'Nothing says over which image to lay the packages: name the one with the interpreter, --base IMAGE.';
    return { ...view, problem, ...(image === undefined ? {} : { image }) };
  }
  const wanted = `hotcell-skill/${name}:${recipe.tag}`;
  const folder = plans.find((each) => each.plan === plan)?.owner ?? name;
  const context = skills.find(({ manifest }) => manifest.name === folder)?.dir ?? '';
  const fix = `Build it, then name it in the config: skills.images: { ${name}: "${wanted}" }.`;
  return {
    ...view,
    recipe: recipe.text,
    build: `docker build -t ${wanted} ${recipe.needsFolder ? `-f - ${quoteWords([context])}` : '-'}`,
    image: image ?? { name: wanted, state: 'not-named', fix },
  };
}

/** The image of the first interpreter that has one. */
function findBase(skills: readonly Skill[], { docker }: PackageFacts['config']): string | undefined {
  for (const { interpreter } of skills.flatMap(({ scripts }) => scripts)) {
    const command = interpreter?.command ?? '';
    if (Object.hasOwn(docker.commands, command)) return docker.commands[command];
  }
  return undefined;
}

function sampleRun(skills: readonly Skill[]): string[] {
  const script = skills.flatMap(({ scripts }) => scripts).find(({ interpreter }) => interpreter !== undefined);
  return script?.interpreter === undefined ? ['sh'] : [script.interpreter.command, `scripts/${script.name}`];
}

async function lookAt(name: string, images: Pick<ImageBook, 'list'>): Promise<SkillPackagesView['image'] & object> {
  try {
    const found = (await images.list()).find((each) => each.name === name);
    if (found === undefined) return { name, state: 'unknown' };
    const { status: state, fix } = found;
    return { name, state, ...(fix === undefined ? {} : { fix }) };
  } catch (error) {
    if (!(error instanceof HotcellError)) throw error;
    return { name, state: 'unknown', fix: `${error.message} ${error.fix}` };
  }
}
