import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';
import { indexModule, type ModuleIndex, type TypeDeclaration, type ValueNode } from './module-index.ts';
import type { SchemaFile } from './schema-types.ts';

const maxImportHops = 16;
const endings = ['', '.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.d.ts', '/index.ts', '/index.js'];

/** What a name stands for, and the module in which to read on. */
export interface Found<Node> {
  readonly module: ModuleIndex;
  readonly node: Node;
}

/** The files of one plugin, parsed when they are first asked for. */
export type ModuleGraph = ReturnType<typeof createModuleGraph>;

/** Makes the graph. Only relative imports between the given files are followed. */
export function createModuleGraph(files: readonly SchemaFile[]) {
  const texts = new Map(files.map((file) => [file.path, file.text]));
  const modules = new Map<string, ModuleIndex>();

  function get(path: string): ModuleIndex | undefined {
    const known = modules.get(path);
    if (known) return known;
    const text = texts.get(path);
    if (text === undefined) return undefined;
    const parsed = parseSync(path, text, { preserveParens: false });
    const module = indexModule(path, text, parsed.program, parsed.comments);
    modules.set(path, module);
    return module;
  }

  function follow(from: ModuleIndex, specifier: string): ModuleIndex | undefined {
    if (!specifier.startsWith('.')) return undefined;
    const target = posix.join(posix.dirname(from.path), specifier);
    const asTypeScript = target.replace(/\.([cm]?)js$/, '.$1ts');
    const path = [asTypeScript, ...endings.map((ending) => target + ending)].find((candidate) => texts.has(candidate));
    return path === undefined ? undefined : get(path);
  }

  function find<Node>(module: ModuleIndex, name: string, pick: Pick<Node>, hops: number): Found<Node> | undefined {
    const node = pick(module, name);
    if (node !== undefined) return { module, node };
    const imported = module.imports.get(name);
    return imported && findExported(module, imported.source, imported.name, pick, hops - 1);
  }

  function findExported<Node>(
    from: ModuleIndex,
    source: string,
    name: string,
    pick: Pick<Node>,
    hops: number,
  ): Found<Node> | undefined {
    const module = follow(from, source);
    if (!module || hops <= 0) return undefined;
    const local = module.exports.get(name);
    if (local !== undefined) return find(module, local, pick, hops);
    const reexport = module.reexports.get(name);
    if (reexport) return findExported(module, reexport.source, reexport.name, pick, hops - 1);
    for (const star of module.starExports) {
      const found = findExported(module, star, name, pick, hops - 1);
      if (found) return found;
    }
    return find(module, name, pick, hops);
  }

  return {
    get,
    findType: (module: ModuleIndex, name: string) => find(module, name, pickType, maxImportHops),
    findValue: (module: ModuleIndex, name: string) => find(module, name, pickValue, maxImportHops),
    /** A name that a module exports, through re-exports. */
    findExportedType: (module: ModuleIndex, source: string, name: string) =>
      findExported(module, source, name, pickType, maxImportHops),
  };
}

type Pick<Node> = (module: ModuleIndex, name: string) => Node | undefined;

function pickType(module: ModuleIndex, name: string): readonly TypeDeclaration[] | undefined {
  return module.types.get(name);
}

function pickValue(module: ModuleIndex, name: string): ValueNode | undefined {
  return name === 'default' ? module.main : module.values.get(name);
}
