import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../src/config/read/load.ts';
import type { Settings } from '../src/config/schema.ts';
import { startDaemon } from '../src/main.ts';
import type { Daemon } from '../src/operations/daemon-types.ts';
import { parsePermissions } from '../src/permissions/parse.ts';
import { createDaemonLog } from '../src/secrets/daemon-log.ts';

/** A daemon with folders of its own. */
export interface BenchDaemon {
  readonly daemon: Daemon;
  readonly folder: string;
  readonly pluginDir: string;
  close(): Promise<void>;
}

/** Writes the plugins, starts the daemon and waits until all are loaded. */
export async function startBenchDaemon(
  plugins: Readonly<Record<string, string>>,
  options: { listen?: boolean; grantRequested?: boolean; config?: Settings } = {},
): Promise<BenchDaemon> {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-bench-'));
  const pluginDir = join(folder, 'plugins');
  mkdirSync(pluginDir);
  for (const [file, text] of Object.entries(plugins)) writeFileSync(join(pluginDir, file), text);
  if (options.config !== undefined) writeFileSync(join(folder, 'hotcell.config.yaml'), JSON.stringify(options.config));
  const config = loadConfig({
    flags: {
      plugins: [pluginDir],
      data: join(folder, 'data'),
      port: 0,
      ...(options.grantRequested === true && { grantRequested: true }),
    },
    env: {},
    cwd: folder,
    parsePermissions,
  });
  const daemon = await startDaemon({
    config,
    version: '0.0.0-bench',
    listen: options.listen ?? false,
    log: createDaemonLog(),
  });
  return {
    daemon,
    folder,
    pluginDir,
    close: async () => {
      await daemon.close('benchmark ended');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A plugin of some 50 lines that parses and builds small JSON; `answer` is what it returns, so that edits can be told apart. */
export function typicalPlugin(name: string, answer: string): string {
  const cases = Array.from({ length: 12 }, (_, n) => `    case ${n}:\n      return 'kind-${n}';`).join('\n');
  return `/** Sorts and counts the words of a text. */
interface Args {
  /** The text to look at. */
  text: string;
  /** At most so many words. */
  limit?: number;
}

interface Count {
  word: string;
  count: number;
  kind: string;
}

function kindOf(length: number): string {
  switch (length) {
${cases}
    default:
      return 'long';
  }
}

export default {
  name: '${name}',
  version: '1.0.0',
  description: 'Counts words. Use for word statistics.',
  handler: async (args: Args) => {
    const counts = new Map<string, number>();
    for (const word of args.text.toLowerCase().split(/\\W+/)) {
      if (word) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    const rows: Count[] = [...counts].map(([word, count]) => ({ word, count, kind: kindOf(word.length) }));
    rows.sort((a, b) => b.count - a.count || (a.word < b.word ? -1 : 1));
    return { answer: ${JSON.stringify(answer)}, words: rows.slice(0, args.limit ?? 5) };
  },
};
`;
}
