const { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

// In a checkout the program is bundled when it runs first, and again after every change of what it was made of. The
// package has it bundled already, and does without this file.
const root = join(__dirname, '../');
const cacheDir = `${root}node_modules/.cache/hotcell/`;
const recordFile = `${cacheDir}program.json`;
const noThrow = { throwIfNoEntry: false };
const maxKept = 8;

/** The file to begin with; undefined where nothing can be bundled, so that the sources must run as they are. */
exports.findProgram = async function findProgram() {
  try {
    return `${findFresh() ?? (await bundle())}/client.cjs`;
  } catch {
    return undefined;
  }
};

function findFresh() {
  let record;
  try {
    record = JSON.parse(readFileSync(recordFile, 'utf8'));
  } catch {
    return undefined;
  }
  for (const file in record.inputs) if (describe(root + file) !== record.inputs[file]) return undefined;
  return cacheDir + record.folder;
}

/** Changes with every write, also one that keeps the size and sets the time back. */
function describe(file) {
  const stats = statSync(file, noThrow);
  return stats && `${stats.size} ${stats.ctimeMs}`;
}

async function bundle() {
  const { bundleProgram } = await import('../scripts/bundle.ts');
  const sources = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).map((file) => `src/${file}`);
  const before = new Map(sources.map((file) => [file, describe(root + file)]));
  const folder = `${Date.now()}-${process.pid}`;
  const inputs = {};
  for (const file of await bundleProgram(cacheDir + folder)) {
    const now = describe(root + file);
    // What was written while it was read may not be what was bundled: the next run bundles again.
    inputs[file] = now === (before.get(file) ?? now) ? now : 'written meanwhile';
  }
  const aside = `${cacheDir}${folder}.json`;
  writeFileSync(aside, JSON.stringify({ folder, inputs }));
  renameSync(aside, recordFile);
  removeOld(folder);
  return cacheDir + folder;
}

/** Programs that still run may read the rest of theirs later: the youngest stay. */
function removeOld(current) {
  const folders = readdirSync(cacheDir, { withFileTypes: true }).filter((entry) => entry.isDirectory() && entry.name !== current);
  const names = folders.map(({ name }) => name).sort();
  for (const name of names.slice(0, -maxKept)) rmSync(cacheDir + name, { recursive: true, force: true });
}
