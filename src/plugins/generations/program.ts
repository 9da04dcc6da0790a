import type { EngineName, Program } from '../../engines/engine.ts';
import { type Artifacts, hashBytes } from './artifact-files.ts';

/** A program whose build lives in memory alone. */
export function holdProgram(key: string, label: string, { code, image }: Pick<Artifacts, 'code' | 'image'>): Program {
  return { key, label, readCode: async () => code, readImage: async () => image, saveImage: () => {} };
}

/** The key under which engines know the code of a plugin: the same code of the same plugin has the same key. */
export function programKey(engine: EngineName, pluginPath: string, codeHash: string): string {
  return `${engine}:${hashBytes(pluginPath).slice(0, 16)}:${codeHash}`;
}
