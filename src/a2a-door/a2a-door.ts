import { A2A_VERSION_HEADER, AgentCard } from '@a2a-js/sdk';
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from '@a2a-js/sdk/server';
import type { Caller } from '../callers/caller.ts';
import type { EventLog } from '../events/event.ts';
import { createAsk } from '../operations/ask.ts';
import { openToolBooks } from '../operations/calling/tool-book.ts';
import type { InvocableOperation } from '../operations/invoke.ts';
import { describeAgent } from './agent-card.ts';
import { createRequestHandler } from './request-handler.ts';

/** What the door is made of. */
export interface A2aDoorParts {
  readonly version: string;
  readonly operations: ReadonlyMap<string, InvocableOperation>;
  readonly events: Pick<EventLog, 'subscribe'>;
  /** False when the key of a caller was revoked or has ended: it is told nothing any more. */
  readonly isValid: (caller: Caller) => boolean;
}

/** Speaks A2A 1.0 with other agents: JSON-RPC over HTTP. */
export type A2aDoor = ReturnType<typeof createA2aDoor>;

/** Opens the door on the operations of a daemon. */
export function createA2aDoor({ version, operations, events, isValid }: A2aDoorParts) {
  const ask = createAsk(operations);
  const books = openToolBooks(ask, events);
  return {
    card: (origin: string): unknown => AgentCard.toJSON(describeAgent(origin, version)),
    /** Answers one request; `body` is what it brought, parsed. */
    async handle(request: Request, body: unknown, caller: Caller): Promise<Response> {
      const requestedVersion = request.headers.get(A2A_VERSION_HEADER) ?? '';
      const handler = new JsonRpcTransportHandler(createRequestHandler({ ask, books, version }, caller, request.signal));
      const sent: Record<string, unknown> = typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body } : {};
      try {
        validateVersion(requestedVersion, describeAgent('', version), 'JSONRPC');
      } catch (error) {
        return Response.json({ jsonrpc: '2.0', id: sent.id ?? null, error: JsonRpcTransportHandler.mapToJSONRPCError(error) });
      }
      const answer = await handler.handle(sent, new ServerCallContext({ requestedVersion }));
      if (!(Symbol.asyncIterator in answer)) return Response.json(answer);
      const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
      return new Response(ReadableStream.from(writeEvents(answer, sent.id, () => isValid(caller))), { headers });
    },
    close: books.close,
  };
}

async function* writeEvents(answers: AsyncIterable<unknown>, id: unknown, mayHear: () => boolean): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  try {
    for await (const answer of answers) {
      if (!mayHear()) return;
      yield encoder.encode(`data: ${JSON.stringify(answer)}\n\n`);
    }
  } catch (error) {
    if (!mayHear()) return;
    const failed = { jsonrpc: '2.0', id: id ?? null, error: JsonRpcTransportHandler.mapToJSONRPCError(error) };
    yield encoder.encode(`data: ${JSON.stringify(failed)}\n\n`);
  }
}
