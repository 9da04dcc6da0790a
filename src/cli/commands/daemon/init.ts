import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import type { CliSession } from '../../session.ts';
import { configTemplate, ignoredLines, tsconfigTemplate } from '../../templates.ts';
import { addCommand } from '../command.ts';

/** Adds `hotcell init`: what a folder needs to start with. Never writes over anything. */
export function registerInit(program: Command, session: CliSession): void {
  addCommand(program, {
    name: 'init',
    json: false,
    run: () => {
      const { cwd } = session.io;
      const tell = (isNew: boolean, what: string): void =>
        session.print(
          isNew ? `${session.style.green('✓')} wrote ${what}\n` : session.style.dim(`· ${what} is there, left as it is\n`),
        );
      const configFiles = ['hotcell.config.yaml', 'hotcell.config.yml', 'hotcell.config.json'];
      const present = configFiles.find((name) => existsSync(join(cwd, name)));
      if (present === undefined) writeFileSync(join(cwd, 'hotcell.config.yaml'), configTemplate, { flag: 'wx' });
      tell(present === undefined, present ?? 'hotcell.config.yaml');
      for (const folder of ['plugins', 'skills'])
        tell(mkdirSync(join(cwd, folder), { recursive: true }) !== undefined, `${folder}/`);
      tell(writeIfAbsent(join(cwd, 'tsconfig.json'), tsconfigTemplate), 'tsconfig.json');
      tell(writeTypes(join(cwd, 'types', 'hotcell')), 'types/hotcell/');
      tell(addLines(join(cwd, '.gitignore'), ignoredLines), '.gitignore lines');
      session.print('\nNext: hotcell plugin new hello && hotcell start\n');
    },
  });
}

/** What plugins import from hotcell, and all that this imports. */
const typeFiles = ['plugin', 'plugins/arguments-of', 'plugins/plugin-context', 'hooks/handler-types'];

/** Writes them as they are in this installation; false when they are there already. They are no work of the user: old ones go. */
function writeTypes(folder: string): boolean {
  const own = fileURLToPath(new URL('../../../', import.meta.url));
  const isNew = typeFiles.map((name) => {
    const source = [`${name}.d.ts`, `${name}.ts`].find((file) => existsSync(join(own, file))) ?? `${name}.d.ts`;
    const text = readFileSync(join(own, source), 'utf8');
    const target = join(folder, source);
    if (existsSync(target) && readFileSync(target, 'utf8') === text) return false;
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    return true;
  });
  return isNew.includes(true);
}

function writeIfAbsent(file: string, text: string): boolean {
  if (existsSync(file)) return false;
  writeFileSync(file, text, { flag: 'wx' });
  return true;
}

/** Appends the lines that are not there; false when all were. */
function addLines(file: string, lines: readonly string[]): boolean {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const present = new Set(text.split(/\r?\n/).map((line) => line.trim().replace(/^\/|\/$/g, '')));
  const missing = lines.filter((line) => !present.has(line.replace(/\/$/, '')));
  if (missing.length === 0) return false;
  appendFileSync(file, `${text === '' || text.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`);
  return true;
}
