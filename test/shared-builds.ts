import { HotcellError } from '../src/errors/hotcell-error.ts';
import { startDaemon } from '../src/main.ts';
import type { StartDaemon } from '../src/operations/daemon-types.ts';
import { createCompiler } from '../src/plugins/compile/compile.ts';
import { createSchemaReader } from '../src/plugins/schema/schema-process.ts';
import type { CheckerUse } from '../src/typescript/check-types.ts';
import { createTypeChecker, type TypeChecker } from '../src/typescript/checker.ts';
import { fewThreads, giveWarmCache } from './data-dir.ts';
import { openSharedQuickJs } from './kept-threads.ts';

// The bundler's process ends with the last compiler that is closed: this one is none of a daemon.
createCompiler({ sharedDirs: [], builtins: new Map(), refusedBuiltins: new Map() });

const checkers = new Map<CheckerUse, TypeChecker>();

/** What all daemons of a process of tests read and check types with: one of its own costs a daemon more than all else of its start. */
export const sharedTypes = {
  schemaReader: createSchemaReader(),
  openChecker: openSharedChecker,
  openQuickJs: openSharedQuickJs,
} as const;

/** How commands that run in a process of tests start the parts of a daemon. */
export const startCheaply: StartDaemon = ({ config, ...rest }) => {
  giveWarmCache(config.dataDir);
  return startDaemon({ ...rest, ...sharedTypes, config: { ...config, ...fewThreads } });
};

/** As a checker of its own seems to a daemon: what it asked is over when it closes it, and the thread goes on for others. */
function openSharedChecker(...[bounds, use = 'check']: Parameters<typeof createTypeChecker>): TypeChecker {
  const shared = checkers.get(use) ?? createTypeChecker(bounds, use);
  checkers.set(use, shared);
  const end = new AbortController();
  const until = (by: Parameters<TypeChecker['check']>[1]) => ({ ...by, signal: AbortSignal.any([by.signal, end.signal]) });
  return {
    check: (request, by) => shared.check(request, until(by)),
    inspect: (request, by) => shared.inspect(request, until(by)),
    parse: (request, by) => shared.parse(request, until(by)),
    restore: (request, by) => shared.restore(request, until(by)),
    warm: shared.warm,
    close: async () => end.abort(new HotcellError('cancelled', 'The daemon is stopping.')),
  };
}
