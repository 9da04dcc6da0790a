import type { Config, DockerSettings } from '../../../../config/config-types.ts';

/** The sections of the config that name images. */
export type ImageSettings = Pick<Config, 'docker' | 'builtins' | 'skills' | 'mcp'>;

/** What each image of the allow list is for, in words; an empty list for one that nothing needs by itself. */
export function describeImageUses(config: ImageSettings): ReadonlyMap<string, readonly string[]> {
  const settings = allowNamedImages(config);
  const uses = new Map<string, string[]>(listAllowedImages(settings).map((image) => [image, []]));
  for (const { image, use } of listNamedImages(config)) uses.get(image)?.push(use);
  for (const [command, image] of Object.entries(settings.commands)) uses.get(image)?.push(`context.run ${command}`);
  uses.get(settings.pluginImage)?.push('plugins of the engine docker');
  return uses;
}

/** The allow list: what the config names, wherever it names it. */
export function listAllowedImages(settings: DockerSettings): string[] {
  const { images, commands, pluginImage } = settings;
  return [...new Set([...images, ...Object.values(commands), ...(pluginImage === '' ? [] : [pluginImage])])];
}

/** The section for containers, with the images that other sections name in its allow list. */
export function allowNamedImages(config: ImageSettings): DockerSettings {
  return { ...config.docker, images: [...config.docker.images, ...listNamedImages(config).map(({ image }) => image)] };
}

function listNamedImages({ builtins, skills, mcp }: ImageSettings): { readonly image: string; readonly use: string }[] {
  const { eval_code: languages, execute_command: image } = builtins;
  return [
    ...Object.entries(languages).map(([language, image]) => ({ image, use: `eval_code ${language}` })),
    { image, use: 'execute_command' },
    ...Object.entries(mcp.servers).map(([server, { container = '' }]) => ({ image: container, use: `the MCP server ${server}` })),
    ...Object.entries(skills.images).map(([skill, image]) => ({ image, use: `scripts of the skill ${skill}` })),
  ].filter(({ image }) => image !== '');
}
