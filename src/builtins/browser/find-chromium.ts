import { delimiter, join } from 'node:path';
import { isExecutable } from '../../file-system/paths.ts';

/** What helps where there is none. */
export const chromiumFix = 'Install it (apt-get install chromium), or name it in builtins.browser.executable.';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** The browser that the config names, else the first one on the path; undefined when there is none. */
export function findChromium(executable: string, path = process.env.PATH ?? ''): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  const candidates = executable === '' ? folders.flatMap((folder) => names.map((name) => join(folder, name))) : [executable];
  return candidates.find(isExecutable);
}
