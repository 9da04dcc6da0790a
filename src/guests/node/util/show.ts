/** How the sandbox shows values, so that a plugin has it once. */
import type { formatLog as FormatLog } from '../../cell/web/console/format-log.ts';
import type { inspect as Inspect } from '../../cell/web/console/inspect.ts';

export const { inspect, formatLog }: { readonly inspect: typeof Inspect; readonly formatLog: typeof FormatLog } = Reflect.get(
  globalThis,
  Symbol.for('hotcell.show'),
);
