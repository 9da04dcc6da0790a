import type { ModelCatalog } from '../models/catalog.ts';
import { wireFormats } from '../models/wire/wire-formats.ts';
import { jsonType, replyFailure } from './answer-client.ts';
import { type BesideAnswers, createBesideAnswers } from './beside-answers.ts';
import { compactConversation } from './compact.ts';
import { createGateway, type Gateway, type GatewayParts } from './gateway.ts';
import type { GatewayReply, GatewayRequest } from './gateway-types.ts';

/** What the door is made of. */
export interface GatewayDoorParts extends GatewayParts {
  readonly catalog: ModelCatalog;
}

/** Everything that clients of models ask for. */
export interface GatewayDoor extends Pick<Gateway, 'answer' | 'close'>, BesideAnswers {
  /** Gemini names the model, and what is asked of it, in the path. */
  answerGemini(path: string, request: GatewayRequest): Promise<GatewayReply>;
  getResponse(id: string, request: GatewayRequest): Promise<GatewayReply>;
  deleteResponse(id: string, request: GatewayRequest): Promise<GatewayReply>;
  compact(request: GatewayRequest): Promise<GatewayReply>;
}

/** Opens the door. */
export function createGatewayDoor(parts: GatewayDoorParts): GatewayDoor {
  const gateway = createGateway(parts);
  const beside = createBesideAnswers(parts);
  const responses = wireFormats['openai-responses'];
  return {
    ...beside,
    answer: gateway.answer,
    close: gateway.close,
    async answerGemini(path, request) {
      const [, model = '', method] = /^(.*):(\w+)$/s.exec(path) ?? [];
      const isStreamed = method === 'streamGenerateContent';
      if (method === 'generateContent' || isStreamed) return gateway.answer('gemini', request, { model, isStreamed });
      if (method === 'countTokens') return beside.countTokens('gemini', request, { model });
      const message = `There is no method for "${path.slice(0, 128)}": MODEL:generateContent, :streamGenerateContent or :countTokens was expected.`;
      return replyFailure(wireFormats.gemini, { kind: 'not-found', status: 404, message });
    },
    async getResponse(id, request) {
      return json({ ...gateway.findResponse(id, request).response });
    },
    async deleteResponse(id, request) {
      gateway.findResponse(id, request);
      gateway.responses.remove(id, request.caller);
      return json({ id, object: 'response.deleted', deleted: true });
    },
    compact(request) {
      const said = responses.readRequest(request.body);
      const { caller, signal } = request;
      return compactConversation(parts.upstreams, gateway.continueResponse(said, request), {
        caller,
        signal,
        purpose: 'gateway',
      });
    },
  };
}

const json = (value: object): GatewayReply => ({
  status: 200,
  headers: { 'content-type': jsonType },
  body: JSON.stringify(value),
});
