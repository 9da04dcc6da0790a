import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder of skills, by path below it. */
export function makeSkillFolder(files: Readonly<Record<string, string | Uint8Array>>) {
  const dir = mkdtempSync(join(tmpdir(), 'hotcell-skills-'));
  const write = (path: string, text: string | Uint8Array): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  return { dir, write, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** The front matter of a skill. */
export function page(name: string, more = ''): string {
  return `---\nname: ${name}\ndescription: What ${name} does.\n${more}---\n\n# ${name}\n`;
}
