import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parseSync } from 'oxc-parser';

// Prints the house as text: `node scripts/house.ts [--json | --check]`. Folders with their lines and what they import, cycles
// (imports of types count), exported names that exist twice, crowded folders. With --check it prints what breaks the rules.

/** The folders of `src` from the ground up: each imports only from those before it. `main` may import from everywhere. */
export const floors = [
  'errors file-system config collections border concurrency store events names permissions secrets callers typescript conversation capabilities guests engines units tools calls',
  'plugins builtins skills hooks mcp-servers models loop replay repair chat operations client mcp-door a2a-door gateway http cli tui web main',
].flatMap((line) => line.split(' '));

/** Doors that do not import each other: what two of them share lies below, in `operations`. */
const doors: ReadonlySet<string> = new Set(['mcp-door', 'a2a-door', 'gateway', 'cli']);

interface Module {
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly string[];
  readonly names: readonly string[];
}

/** What `npm run house` knows; paths are relative to `src`. */
export interface House {
  readonly rooms: ReadonlyArray<{
    readonly room: string;
    readonly files: number;
    readonly lines: number;
    readonly imports: readonly string[];
  }>;
  readonly fileCycles: readonly (readonly string[])[];
  readonly roomCycles: readonly (readonly string[])[];
  readonly doubleNames: ReadonlyArray<{ readonly name: string; readonly files: readonly string[] }>;
  readonly crowded: ReadonlyArray<{ readonly folder: string; readonly files: number }>;
  /** Imports from a higher floor, as `file -> file`. */
  readonly upward: readonly string[];
}

/** Folders with more files than this side by side are listed as crowded. */
const maxFilesOfRoom = 20;

/** Reads the sources below `root` and answers their structure. Throws when a file cannot be parsed. */
export function readHouse(root: string): House {
  const modules = listFiles(root).map((file) => readModule(root, file));
  const imports = new Map(modules.map((module) => [module.path, module.imports] as const));
  const rooms = [...new Set(modules.map(({ path }) => roomOf(path)))].sort();
  const roomImports = new Map(rooms.map((room) => [room, importsOfRoom(room, modules)] as const));
  return {
    rooms: rooms.map((room) => {
      const own = modules.filter(({ path }) => roomOf(path) === room);
      return {
        room,
        files: own.length,
        lines: own.reduce((sum, { lines }) => sum + lines, 0),
        imports: roomImports.get(room) ?? [],
      };
    }),
    fileCycles: findCycles(imports),
    roomCycles: findCycles(roomImports),
    doubleNames: findDoubleNames(modules),
    crowded: countFiles(modules).filter(({ files }) => files > maxFilesOfRoom),
    upward: modules.flatMap((module) =>
      module.imports.filter((to) => isUpward(module.path, to)).map((to) => `${module.path} -> ${to}`),
    ),
  };
}

function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return listFiles(path);
      return /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts') ? [path] : [];
    })
    .sort();
}

function readModule(root: string, file: string): Module {
  const text = readFileSync(file, 'utf8');
  const { module, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  const specifiers = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest?.value ?? '')),
    ...module.dynamicImports.map(({ moduleRequest }) => text.slice(moduleRequest.start + 1, moduleRequest.end - 1)),
  ];
  const imports = [...new Set(specifiers)]
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => resolve(dirname(file), specifier));
  // What is handed on from elsewhere is the same thing, not a second one.
  const own = module.staticExports.flatMap(({ entries }) => entries.filter(({ moduleRequest }) => moduleRequest === null));
  return {
    path: relative(root, file),
    lines: text.split('\n').length - 1,
    imports: imports.filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile()).map((path) => relative(root, path)),
    names: [...new Set(own.map(({ exportName }) => exportName.name ?? 'default'))],
  };
}

function roomOf(path: string): string {
  const [first = '', ...rest] = path.split('/');
  return rest.length === 0 ? '(src)' : first;
}

function importsOfRoom(room: string, modules: readonly Module[]): readonly string[] {
  const others = modules.filter(({ path }) => roomOf(path) === room).flatMap((module) => module.imports.map(roomOf));
  return [...new Set(others)].filter((other) => other !== room && !other.startsWith('..')).sort();
}

/** Files beside the folders are entries; they may import from everywhere, and nothing but a door imports them. */
function isUpward(from: string, to: string): boolean {
  const [own, other] = [roomOf(from), roomOf(to)];
  if (own === '(src)' || own === 'main' || own === other || other.startsWith('..')) return false;
  if (doors.has(own) && doors.has(other)) return true;
  return floors.indexOf(other) > floors.indexOf(own) || !floors.includes(other);
}

/** The strongly connected parts with more than one member, by Tarjan's algorithm. */
function findCycles(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  function visit(node: string): number {
    const index = order.size;
    order.set(node, index);
    let low = index;
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, lowest.get(next) ?? order.get(next) ?? low);
    }
    lowest.set(node, low);
    if (low === index) {
      const members = stack.splice(stack.indexOf(node));
      if (members.length > 1) cycles.push(members.sort());
    }
    return low;
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return cycles;
}

function findDoubleNames(modules: readonly Module[]): House['doubleNames'] {
  const filesByName = new Map<string, string[]>();
  for (const { path, names } of modules) {
    // What stands in for the platform inside a guest has the platform's names.
    if (roomOf(path) === 'guests') continue;
    for (const name of names) filesByName.set(name, [...(filesByName.get(name) ?? []), path]);
  }
  return [...filesByName]
    .filter(([name, files]) => name !== 'default' && files.length > 1)
    .map(([name, files]) => ({ name, files }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function countFiles(modules: readonly Module[]): House['crowded'] {
  const counts = new Map<string, number>();
  for (const { path } of modules) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts].map(([folder, files]) => ({ folder, files })).sort((a, b) => b.files - a.files);
}

function print({ rooms, fileCycles, roomCycles, doubleNames, crowded }: House): void {
  const total = rooms.reduce((sum, { lines }) => sum + lines, 0);
  console.log(`${'folder'.padEnd(14)} files  lines  imports`);
  for (const { room, files, lines, imports } of rooms) {
    console.log(`${room.padEnd(14)} ${String(files).padStart(5)} ${String(lines).padStart(6)}  ${imports.join(' ')}`);
  }
  console.log(
    `${'total'.padEnd(14)} ${String(rooms.reduce((sum, { files }) => sum + files, 0)).padStart(5)} ${String(total).padStart(6)}`,
  );
  console.log(
    `\ncycles of files: ${fileCycles.length === 0 ? 'none' : fileCycles.map((cycle) => `\n  ${cycle.join(' ')}`).join('')}`,
  );
  console.log(
    `cycles of folders: ${roomCycles.length === 0 ? 'none' : roomCycles.map((cycle) => `\n  ${cycle.join(' ')}`).join('')}`,
  );
  console.log(`exported names that exist twice: ${doubleNames.length === 0 ? 'none' : ''}`);
  for (const { name, files } of doubleNames) console.log(`  ${name.padEnd(28)} ${files.join('  ')}`);
  console.log(`folders with more than ${maxFilesOfRoom} files side by side: ${crowded.length === 0 ? 'none' : ''}`);
  for (const { folder, files } of crowded) console.log(`  ${folder.padEnd(28)} ${files}`);
}

/** What breaks the rules of the house, a sentence each. */
export function findProblems({ upward, roomCycles, fileCycles, doubleNames }: House): readonly string[] {
  return [
    ...upward.map((line) => `An upward import, see the floors in docs/architecture.md: ${line}`),
    ...roomCycles.map((cycle) => `Folders that import each other: ${cycle.join(' ')}`),
    ...fileCycles.map((cycle) => `Files that import each other, be it only a type: ${cycle.join(' ')}`),
    ...doubleNames.map(({ name, files }) => `A name that is exported twice: ${name}, by ${files.join(' ')}`),
  ];
}

if (import.meta.main) {
  const house = readHouse(join(import.meta.dirname, '../src'));
  if (process.argv.includes('--check')) {
    const problems = findProblems(house);
    for (const problem of problems) console.error(problem);
    if (problems.length > 0) process.exitCode = 1;
  } else if (process.argv.includes('--json')) console.log(JSON.stringify(house, undefined, 2));
  else print(house);
}
