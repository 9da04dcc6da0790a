import { listParts, type PortableCode } from '../../../guests/portable-code.ts';
import type { Prelude } from '../../../guests/prelude.ts';
import { listLazyGlobals } from '../../quickjs/host-answers/lazy-globals.ts';
import { pageBytes } from '../module/module-limits.ts';
import { sidecarSection } from '../module/module-sections.ts';
import { writeModule } from './module-writer.ts';
import { GuestThrown, openQuickJs, type QuickJsSession } from './quickjs-session.ts';

/** One tool of a module. */
export interface BuiltTool {
  readonly name: string;
  /** The key in `tools`, or `default`. */
  readonly handler: string;
  /** The name of its export. */
  readonly exportName: string;
  readonly description: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly output?: Readonly<Record<string, unknown>>;
  readonly examples: readonly unknown[];
}

/** A compiled plugin and what its module says of itself. Plain data: it crosses to a thread. */
export interface FreezeRequest {
  /** The bundle: a script that leaves the exports on the global object. */
  readonly code: string;
  /** The bundle's source map, JSON. */
  readonly sourceMap: string;
  /** The plugin's file without its ending. */
  readonly fileBase: string;
  readonly tools: readonly BuiltTool[];
  /** What a daemon reads as the manifest of the module, JSON. */
  readonly sidecar: string;
  /** The most memory that the module may have. */
  readonly memoryBytes: number;
}

/** The module, or what the plugin threw when it was loaded, with the stack in the bundle. */
export type FreezeResult =
  | { readonly ok: true; readonly module: Uint8Array }
  | { readonly ok: false; readonly message: string; readonly stack: string };

/** What every module is made of. */
export interface ModuleParts {
  readonly runtime: Uint8Array<ArrayBuffer>;
  readonly portable: PortableCode;
  readonly prelude: Prelude;
}

/** Where the runtime's stack ends and its data begins. */
const imageStart = 1_048_576;
const describeEntry = 'entry.0';
const callEntry = 'entry.1';

/**
 * Loads a plugin in QuickJS and freezes the memory into a module of its own, which calls it without evaluating anything
 * again. Runs plugin code on this thread, without any limit of time.
 */
export async function freezePlugin(request: FreezeRequest, parts: ModuleParts): Promise<FreezeResult> {
  const session = await openQuickJs(parts.runtime);
  session.defineHostFunction('__hotcellCall');
  session.evaluate(parts.portable.main, 'host.js');
  session.evaluate(parts.prelude.code, 'prelude.js');
  session.evaluate(`__hotcellModule.prepare(${JSON.stringify(writeSetup(request, parts))})`, 'build.js');
  session.startWorld();
  const failure = loadPlugin(session, request);
  if (failure) return failure;
  const globals = {
    'state.enter': session.evaluate('__hotcellModule.enter', 'build.js'),
    'state.leave': session.evaluate('__hotcellModule.leave', 'build.js'),
  };
  session.evaluate('delete globalThis.__hotcellModule', 'build.js');
  session.collectGarbage();
  return { ok: true, module: freezeMemory(session.memory(), globals, request, parts.runtime) };
}

function loadPlugin(session: QuickJsSession, { code }: FreezeRequest): Extract<FreezeResult, { ok: false }> | undefined {
  try {
    for (const name of listParts(code)) session.evaluate(`__hotcellModule.loadPart(${JSON.stringify(name)})`, 'build.js');
    for (const name of listLazyGlobals(code)) session.evaluate(`void globalThis.${name}`, 'build.js');
    session.evaluate(code, 'plugin.js');
    session.evaluate('__hotcellModule.load()', 'build.js');
    session.runJobs();
  } catch (error) {
    if (error instanceof GuestThrown) return { ok: false, message: error.message, stack: error.guestStack };
    throw error;
  }
  const failure = session.readText('__hotcellModule.readLoad()');
  if (failure === '') return undefined;
  const { message, stack } = readThrown(failure);
  return { ok: false, message, stack };
}

function readThrown(json: string): { message: string; stack: string } {
  const thrown: unknown = JSON.parse(json);
  const field = (name: string): string => {
    const value: unknown = typeof thrown === 'object' && thrown !== null ? Reflect.get(thrown, name) : undefined;
    return typeof value === 'string' ? value : '';
  };
  return { message: field('message') || 'The plugin threw while it was loaded.', stack: field('stack') };
}

function writeSetup(request: FreezeRequest, { portable, prelude }: ModuleParts): string {
  const { mappings, sources }: { mappings: unknown; sources: unknown } = JSON.parse(request.sourceMap);
  return JSON.stringify({
    fileBase: request.fileBase,
    lazyModules: prelude.lazyModules,
    parts: portable.parts,
    positions: { mappings, sources },
    tools: request.tools.map(({ name, handler }) => ({ name, handler })),
    description: JSON.stringify({ tools: request.tools.map(describeTool) }),
  });
}

function describeTool({ name, description, input, output, examples }: BuiltTool): object {
  return {
    name,
    description,
    inputSchema: input,
    ...(output && { outputSchema: output }),
    ...(examples.length > 0 && { examples }),
  };
}

function freezeMemory(
  memory: Uint8Array,
  globals: Readonly<Record<string, number>>,
  request: FreezeRequest,
  runtime: Uint8Array,
): Uint8Array {
  const image = memory.subarray(imageStart, memory.findLastIndex((byte) => byte !== 0) + 1);
  const pages = memory.length / pageBytes;
  const entries = new Map(request.tools.map(({ exportName }, index) => [exportName, `entry.${index + 2}`] as const));
  return writeModule(runtime, {
    globals: { ...globals, 'state.pages': pages, 'state.known': pages, 'state.bytes': image.length },
    pages: { initial: pages, maximum: Math.max(pages, Math.floor(request.memoryBytes / pageBytes)) },
    image,
    entries: new Map([['describe', describeEntry], ['call', callEntry], ...entries]),
    customSections: new Map([[sidecarSection, new TextEncoder().encode(request.sidecar)]]),
  });
}
