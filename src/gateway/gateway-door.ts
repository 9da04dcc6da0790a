import type { ModelCatalog } from '../models/catalog.ts';
import type { WireFormatName } from '../models/wire/wire-format.ts';
import { wireFormats } from '../models/wire/wire-formats.ts';
import { replyJson } from './answer-client.ts';
import { type BesideAnswers, createBesideAnswers } from './beside-answers.ts';
import { compactConversation } from './compact.ts';
import { createGateway, type Gateway, type GatewayParts } from './gateway.ts';
import { askedBy, type GatewayReply, type GatewayRequest } from './gateway-types.ts';

/** What the door is made of. */
export interface GatewayDoorParts extends GatewayParts {
  readonly catalog: ModelCatalog;
}

/** Everything that clients of models ask for. */
export interface GatewayDoor extends Pick<Gateway, 'answer' | 'close'>, BesideAnswers {
  /** Answers at an address of which the format reads the rest. */
  answerAt(format: WireFormatName, rest: string, request: GatewayRequest): Promise<GatewayReply>;
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
    async answerAt(name, rest, request) {
      const { isCount, ...address } = wireFormats[name].readAddress?.(rest) ?? {};
      return isCount === true ? beside.countTokens(name, request, address) : gateway.answer(name, request, address);
    },
    async getResponse(id, request) {
      return replyJson({ ...gateway.findResponse(id, request).response });
    },
    async deleteResponse(id, request) {
      gateway.findResponse(id, request);
      gateway.responses.remove(id, request.caller);
      return replyJson({ id, object: 'response.deleted', deleted: true });
    },
    compact(request) {
      const said = responses.readRequest(request.body);
      return compactConversation(parts.upstreams, gateway.continueResponse(said, request), askedBy(request));
    },
  };
}
