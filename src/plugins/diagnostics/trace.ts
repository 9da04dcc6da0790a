import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import { BoundedMap } from '../../collections/bounded-map.ts';
import type { GuestError, StackFrame } from '../../engines/engine.ts';
import { type ErrorCode, errorCatalog } from '../../errors/catalog.ts';
import { renderCodeFrame } from './code-frame.ts';

const maxFrames = 10;
const defaultCachedMaps = 32;

/** What is kept of a build for tracing: its source map, and the plugin's own files by their path in the map. */
export interface TraceArtifacts {
  readonly sourceMap?: string | undefined;
  readonly sources: ReadonlyArray<{ readonly path: string; readonly text: string }>;
}

/** A guest's failure in terms of the user's own files. */
export interface TracedError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly name?: string;
  readonly frames: readonly StackFrame[];
  readonly codeFrame?: string;
  readonly fix: string;
}

/** Maps failures of bundles back to the files that they were made from. */
export interface Tracer {
  /** A failure of a call. Never rejects: without artifacts it keeps its message and loses its frames. */
  explain(error: GuestError, generation: { readonly id: string }): Promise<TracedError>;
}

interface LoadedMap {
  readonly map: TraceMap;
  readonly texts: ReadonlyMap<string, string>;
}

/** Makes a tracer that keeps the maps of the generations that failed last. `readArtifacts` may reject. */
export function createTracer(options: {
  readonly readArtifacts: (generationId: string) => Promise<TraceArtifacts | undefined>;
  readonly cachedMaps?: number;
}): Tracer {
  const cache = new BoundedMap<string, Promise<LoadedMap | undefined>>(options.cachedMaps ?? defaultCachedMaps);

  function load(generationId: string): Promise<LoadedMap | undefined> {
    const known = cache.get(generationId);
    const loaded = known ?? readMap(generationId);
    cache.set(generationId, loaded);
    return loaded;
  }

  async function readMap(generationId: string): Promise<LoadedMap | undefined> {
    try {
      const artifacts = await options.readArtifacts(generationId);
      return artifacts && decode(artifacts);
    } catch {
      // What cannot be read now may be readable at the next failure.
      cache.delete(generationId);
      return undefined;
    }
  }

  return {
    explain: async (error, generation) => trace(error, error.frames.length > 0 ? await load(generation.id) : undefined),
  };
}

/** A failure of what was built just now. */
export function traceLoad(error: GuestError, artifacts: TraceArtifacts): TracedError {
  return trace(error, error.frames.length > 0 ? decode(artifacts) : undefined);
}

function trace(error: GuestError, loaded: LoadedMap | undefined): TracedError {
  const frames = loaded ? error.frames.flatMap((frame) => mapFrame(frame, loaded.map) ?? []).slice(0, maxFrames) : [];
  const codeFrame = loaded && topCodeFrame(frames, loaded.texts);
  return {
    code: error.code,
    message: error.message,
    ...(error.name === undefined ? {} : { name: error.name }),
    frames,
    ...(codeFrame ? { codeFrame } : {}),
    fix: errorCatalog[error.code].fix,
  };
}

function decode(artifacts: TraceArtifacts): LoadedMap | undefined {
  if (artifacts.sourceMap === undefined || artifacts.sourceMap === '') return undefined;
  return { map: new TraceMap(artifacts.sourceMap), texts: new Map(artifacts.sources.map(({ path, text }) => [path, text])) };
}

// Code that the bundler or the sandbox added has no original position, and is nobody's to mend.
function mapFrame(frame: StackFrame, map: TraceMap): StackFrame | undefined {
  const position = originalPositionFor(map, { line: frame.line, column: Math.max(0, frame.column - 1) });
  if (position.source === null) return undefined;
  const file = position.source.replace(/^commonjs:/, '').replace(/^(?:\.\.\/)+(?=node_modules\/)/, '');
  if (isVirtual(file)) return undefined;
  const named = frame.functionName === undefined ? {} : { functionName: frame.functionName };
  return { ...named, file, line: position.line, column: position.column + 1 };
}

function isVirtual(file: string): boolean {
  return /^(?:builtin|refused|hotcell):/.test(file);
}

/** The place where the plugin's author can act: the innermost one outside of packages, else the innermost. */
export function findOwnFrame<Frame extends { readonly file: string }>(frames: readonly Frame[]): Frame | undefined {
  return frames.find(({ file }) => !file.includes('node_modules/')) ?? frames[0];
}

function topCodeFrame(frames: readonly StackFrame[], texts: ReadonlyMap<string, string>): string | undefined {
  const own = findOwnFrame(frames);
  if (own === undefined || !texts.has(own.file)) return undefined;
  const frame = renderCodeFrame(texts.get(own.file) ?? '', own);
  const [thrown] = frames;
  return thrown === own || thrown === undefined ? frame : `${frame}\n  thrown at ${thrown.file}:${thrown.line}:${thrown.column}`;
}
