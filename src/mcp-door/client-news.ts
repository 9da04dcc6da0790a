import type { LoggingLevel, ServerContext } from '@modelcontextprotocol/server';
import type { CallNews } from '../operations/calling/call-watch.ts';

const levels: Readonly<Record<string, LoggingLevel>> = { debug: 'debug', info: 'info', warn: 'warning', error: 'error' };

/** Tells the client of a request how its call gets on, as far as it asked to be told. */
export function tellClient({ mcpReq }: ServerContext): CallNews {
  const progressToken = mcpReq._meta?.progressToken;
  let last = Number.NEGATIVE_INFINITY;
  return {
    progress(done, total, message) {
      // The protocol has progress rise.
      if (progressToken === undefined || done <= last) return;
      last = done;
      const params = {
        progressToken,
        progress: done,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      };
      void mcpReq.notify({ method: 'notifications/progress', params }).catch(ignoreGone);
    },
    log(level, text) {
      void mcpReq.log(levels[level] ?? 'info', text).catch(ignoreGone);
    },
  };
}

/** A client that went away is told nothing. */
function ignoreGone(): void {}
