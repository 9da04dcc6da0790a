import type { FastifyInstance } from 'fastify';
import type { A2aDoor, A2aDoorParts } from '../a2a-door/a2a-door.ts';
import { type Authenticate, admit, type IsCurrent, refuseEnded } from './admission/auth.ts';
import type { DoorShares } from './admission/shares.ts';
import { sendResponse, toWebRequest } from './mcp-route.ts';

/** What the routes are served with. */
export interface A2aRouteParts extends A2aDoorParts {
  readonly authenticate: Authenticate;
  readonly isCurrent: IsCurrent;
  readonly shares: Pick<DoorShares, 'streams' | 'unread'>;
}

/** Serves the agent card to everybody and A2A to those who show a key. What speaks it is loaded with the first request. */
export function registerA2aRoute(app: FastifyInstance, parts: A2aRouteParts): { readonly close: () => void } {
  let opening: Promise<A2aDoor> | undefined;
  const open = (): Promise<A2aDoor> => {
    opening ??= import('../a2a-door/a2a-door.ts').then(({ createA2aDoor }) => createA2aDoor(parts));
    return opening;
  };
  app.get('/.well-known/agent-card.json', async ({ headers }, reply) => {
    const card = (await open()).card(`http://${headers.host}`);
    return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(card));
  });
  app.route({
    method: 'POST',
    url: '/a2a',
    onRequest: admit(parts.authenticate),
    handler: async (request, reply) => {
      const { body, caller } = request;
      const door = await open();
      // The body may have taken its time: what was so when it began need not be so any more.
      if (!parts.isCurrent(caller)) throw refuseEnded();
      const response = await door.handle(toWebRequest(request, reply), body, caller);
      if (!parts.isValid(caller)) throw refuseEnded();
      return sendResponse(response, request, reply, parts);
    },
  });
  return { close: () => void opening?.then((door) => door.close()) };
}
