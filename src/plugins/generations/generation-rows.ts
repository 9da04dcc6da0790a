import { isObject, readJson } from '../../config/json-object.ts';
import type { GenerationRow } from '../../store/tables/plugins/generations.ts';
import type { Author } from '../../units/unit.ts';
import type { BuildInput, Generation, PluginManifest } from './generation.ts';

/** What a row says of a generation; the runner is bound to it by the archive. */
export type GenerationFacts = Omit<Generation, 'kind' | 'runner'> & {
  readonly codeHash: string;
  readonly programKey: string;
  readonly imageHash: string | null;
};

/** What makes generations. */
export interface Maker {
  /** The version, and the rules on engines: generations that were made on other terms are not read. */
  readonly terms: string;
  /** The build of the daemon: another one may compile, read and warn of the same content in another way. */
  readonly program: string;
}

/** Writes the facts of a generation as a row. */
export function toGenerationRow(facts: GenerationFacts, { terms, program }: Maker): GenerationRow {
  return {
    id: facts.id,
    pluginPath: facts.path,
    number: facts.number,
    author: facts.author,
    engine: facts.manifest.engine,
    contentHash: facts.contentHash,
    codeHash: facts.codeHash,
    imageHash: facts.imageHash,
    imageFingerprint: null,
    manifestJson: JSON.stringify({ builtBy: terms, program, programKey: facts.programKey, manifest: facts.manifest }),
    inputsJson: JSON.stringify(facts.inputs),
    createdAtMs: facts.createdAtMs,
    writtenBy: facts.writtenBy ?? null,
  };
}

/** Reads a row; undefined when it was written on other terms or is damaged: the plugin is then built again. */
export function fromRow(row: GenerationRow, { terms, program }: Maker): GenerationFacts | undefined {
  const kept = readJson(row.manifestJson);
  const inputs = readJson(row.inputsJson);
  if (!isObject(kept) || kept.builtBy !== terms || !isManifest(kept.manifest)) return undefined;
  if (typeof kept.programKey !== 'string') return undefined;
  if (!Array.isArray(inputs) || !inputs.every(isInput) || !isAuthor(row.author)) return undefined;
  return {
    id: row.id,
    path: row.pluginPath,
    number: row.number,
    author: row.author,
    ...(row.writtenBy === null ? {} : { writtenBy: row.writtenBy }),
    contentHash: row.contentHash,
    createdAtMs: row.createdAtMs,
    isStale: kept.program !== program,
    manifest: kept.manifest,
    inputs,
    codeHash: row.codeHash,
    programKey: kept.programKey,
    imageHash: row.imageHash,
  };
}

// The daemon wrote these rows after it had checked every field; `builtBy` proves that it was the same version. What is
// left to find out is whether the row is whole.
function isManifest(value: unknown): value is PluginManifest {
  return (
    isObject(value) &&
    typeof value.name === 'string' &&
    typeof value.version === 'string' &&
    typeof value.engine === 'string' &&
    isObject(value.permissions) &&
    Array.isArray(value.tools) &&
    Array.isArray(value.warnings)
  );
}

function isInput(value: unknown): value is BuildInput {
  return (
    isObject(value) && typeof value.path === 'string' && typeof value.sha256 === 'string' && typeof value.signature === 'string'
  );
}

function isAuthor(value: string): value is Author {
  return value === 'operator' || value === 'caller' || value === 'model' || value === 'repair';
}
