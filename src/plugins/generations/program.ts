import type { EngineName, Program } from '../../engines/engine.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { type Artifacts, hashBytes } from './artifact-files.ts';

/** What a program is read from. */
export interface ProgramSource {
  readonly key: string;
  readonly label: string;
  /** Whether the engine wants text rather than bytes. */
  readonly isText: boolean;
  readonly readCode: () => Promise<string | Uint8Array | undefined>;
  readonly rebuildCode: () => Promise<string | Uint8Array | undefined>;
  readonly readImage: () => Promise<Uint8Array | undefined>;
  readonly saveImage: (image: Uint8Array) => void;
}

/** Makes a program whose code comes from the disk, or is built again when the disk has lost it. */
export function createProgram(source: ProgramSource): Program {
  return {
    key: source.key,
    label: source.label,
    async readCode() {
      const code = (await source.readCode()) ?? (await source.rebuildCode());
      if (code === undefined) {
        throw new HotcellError('plugin-not-ready', `The code of this generation of "${source.label}" is gone from the disk.`, {
          fix: `Reload it: hotcell plugin reload ${source.label}.`,
        });
      }
      return source.isText && typeof code !== 'string' ? new TextDecoder().decode(code) : code;
    },
    readImage: source.readImage,
    saveImage: source.saveImage,
  };
}

/** A program whose build lives in memory alone. */
export function holdProgram(key: string, label: string, { code, image }: Pick<Artifacts, 'code' | 'image'>): Program {
  return { key, label, readCode: async () => code, readImage: async () => image, saveImage: () => {} };
}

/** The key under which engines know the code of a plugin: the same code of the same plugin has the same key. */
export function programKey(engine: EngineName, pluginPath: string, codeHash: string): string {
  return `${engine}:${hashBytes(pluginPath).slice(0, 16)}:${codeHash}`;
}
