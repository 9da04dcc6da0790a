import type { BorderHost } from '../border.ts';
import { type FileFlags, fileFlagsOf, keyOfFlags, noFiles } from './deno-flags.ts';

/** How often a running call is asked whether its files are still granted, in ms. */
const lookMs = 500;

/** The files that a call may touch now. */
export async function readFileFlags(host: BorderHost, forbidden: readonly string[]): Promise<FileFlags> {
  return fileFlagsOf(await host.workspace?.(), forbidden);
}

/** Watches the grants of a call whose process was started with files: flags cannot be taken back, so the process must end. */
export function watchGrants(
  host: BorderHost,
  files: FileFlags,
  forbidden: readonly string[],
): { revoked: AbortSignal; close(): void } {
  const controller = new AbortController();
  if (keyOfFlags(files) === keyOfFlags(noFiles)) return { revoked: controller.signal, close: () => undefined };
  const timer = setInterval(() => {
    readFileFlags(host, forbidden).then(
      (now) => {
        if (isLess(now.read, files.read) || isLess(now.write, files.write)) controller.abort();
      },
      () => controller.abort(),
    );
  }, lookMs);
  return { revoked: controller.signal, close: () => clearInterval(timer) };
}

function isLess(now: readonly string[], before: readonly string[]): boolean {
  return before.some((path) => !now.includes(path));
}
