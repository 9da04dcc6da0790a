import type { Upstreams } from '../upstream.ts';
import type { Heard, ProviderAsker, UpstreamParts } from './ask-providers.ts';

/** Creates the upstreams. What asks is loaded with the first request, not at the start. */
export function createUpstreams(parts: UpstreamParts): Upstreams {
  let asking: Promise<ProviderAsker> | undefined;
  const load = (): Promise<ProviderAsker> => {
    asking ??= import('./ask-providers.ts').then(({ createProviderAsker }) => createProviderAsker(parts));
    return asking;
  };
  return {
    ask(request, by) {
      const heard: Heard = { target: undefined, isBilled: false, rateLimits: [], warnings: [] };
      async function* listen() {
        yield* (await load()).ask(request, by, heard);
      }
      return {
        events: listen(),
        target: () => heard.target,
        isBilled: () => heard.isBilled,
        rateLimits: () => heard.rateLimits,
        warnings: () => heard.warnings,
      };
    },
    forward: async (request, by) => (await load()).forward(request, by),
    close: parts.http.close,
  };
}
