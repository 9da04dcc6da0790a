import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands/table.ts';
import { createCommandLine } from '../../src/cli/run-cli.ts';
import { createSession } from '../../src/cli/session.ts';
import * as main from '../../src/main.ts';

describe('docs/cli.md', () => {
  it('lists every command, and no other', async () => {
    const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
    const listed = [...page.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name);
    const nothing = { write: () => true };
    const session = createSession({
      stdout: nothing,
      stderr: nothing,
      readStdin: async () => '',
      env: {},
      cwd: '.',
      isTTY: false,
      loadDaemon: async () => main,
    });
    const names = commands.flatMap(({ about }) => Object.keys(about));
    const program = await createCommandLine(session, names);
    expect(listed).toEqual(listLeaves(program));
  });
});

function listLeaves(command: Command): string[] {
  return command.commands.flatMap((child) =>
    child.commands.length === 0 ? [child.name()] : listLeaves(child).map((leaf) => `${child.name()} ${leaf}`),
  );
}
