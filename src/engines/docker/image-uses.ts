import type { DockerSettings } from '../../config/config-types.ts';

/** What each image of the allow list is for, in words; an empty list for one that nothing needs by itself. */
export function describeImageUses(settings: DockerSettings): ReadonlyMap<string, readonly string[]> {
  const uses = new Map<string, string[]>(listAllowedImages(settings).map((image) => [image, []]));
  for (const [command, image] of Object.entries(settings.commands)) uses.get(image)?.push(`context.run ${command}`);
  uses.get(settings.pluginImage)?.push('plugins of the engine docker');
  return uses;
}

/** The allow list: what the config names, wherever it names it. */
export function listAllowedImages(settings: DockerSettings): string[] {
  const { images, commands, pluginImage } = settings;
  return [...new Set([...images, ...Object.values(commands), ...(pluginImage === '' ? [] : [pluginImage])])];
}
