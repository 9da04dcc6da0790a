import { findChromium } from '../../src/builtins/browser/find-chromium.ts';
import { install } from './docker.ts';

/** Installs Chromium where that can be done. Answers what is missing. */
export async function prepareChromium(): Promise<string | undefined> {
  if (findChromium('') === undefined && process.getuid?.() === 0) install(['chromium']);
  return findChromium('') === undefined ? 'Install it: apt-get install chromium' : undefined;
}
