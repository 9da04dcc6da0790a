import type { FastifyInstance } from 'fastify';
import type { ConnectionBook } from './connection-count.ts';
import type { DoorShares } from './shares.ts';

/** Bodies up to this size are bounded by the number of requests. */
export const freeBodyBytes = 16 * 1024;

/** Counts what every request of a caller holds, after it is known who asks and before its body is read. */
export function registerDoorAdmission(
  app: FastifyInstance,
  parts: { readonly connections: ConnectionBook; readonly shares: DoorShares },
): void {
  const { connections, shares } = parts;
  app.addHook('preParsing', (request, reply, payload, done) => {
    // Absent where no token is asked for; a WebSocket is counted by its own door.
    const caller = request.caller ?? request.opener;
    if (caller === undefined) return done(null, payload);
    connections.assign(request.raw.socket, caller);
    if (request.headers.upgrade !== undefined) return done(null, payload);
    const bytes = readDeclaredBytes(request.headers);
    const leave = shares.requests.take(caller);
    let forget: (() => void) | undefined;
    // The answer ends, however it ends; a part that was refused ends with its refusal.
    reply.raw.once('close', () => {
      leave();
      forget?.();
    });
    if (bytes > freeBodyBytes) {
      // Of more than the route takes nothing is read.
      forget = shares.bodies.take(caller, Math.min(bytes, request.routeOptions.bodyLimit));
    }
    done(null, payload);
  });
}

/** A body in chunks does not say how long it is: it may be as long as any. */
function readDeclaredBytes(headers: Readonly<Record<string, unknown>>): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY;
}
