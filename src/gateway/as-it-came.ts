import { isObject } from '../config/json-object.ts';
import type { JsonObject } from '../conversation/conversation.ts';
import type { AsIsRequest, Upstreams } from '../models/upstream.ts';
import type { RequestAddress, WireFormat } from '../models/wire/wire-format.ts';
import { wireFormats } from '../models/wire/wire-formats.ts';
import { replyFailure, toHeader } from './answer-client.ts';
import { askedBy, type GatewayReply, type GatewayRequest } from './gateway-types.ts';

/** A request for a provider of the format in which it came: nothing of it is touched but the name of the model. */
export function asItCame(
  format: WireFormat,
  body: JsonObject,
  { headers }: Pick<GatewayRequest, 'headers'>,
  address: RequestAddress,
): AsIsRequest {
  const { boundNames, boundsIn, usageOptions } = format;
  const model = address.model ?? (typeof body.model === 'string' ? body.model : '');
  const isStreamed = address.isStreamed ?? body.stream === true;
  const bounds = boundsIn === undefined ? body : isObject(body[boundsIn]) ? body[boundsIn] : {};
  const withBound = (bound: number): JsonObject => {
    const bounded = { ...bounds, [boundNames[0]]: bound };
    return boundsIn === undefined ? bounded : { ...body, [boundsIn]: bounded };
  };
  const options = usageOptions === undefined ? undefined : body[usageOptions.field];
  const said = isObject(options) ? options : {};
  const hidesUsage = isStreamed && usageOptions !== undefined && said[usageOptions.flag] !== true;
  const withUsage = (asked: JsonObject): JsonObject =>
    hidesUsage ? { ...asked, [usageOptions.field]: { ...said, [usageOptions.flag]: true } } : asked;
  return {
    formats: [format.name],
    model,
    path: (provided) => format.pathOf(provided, isStreamed),
    body: (provided, maxTokens, isPlain = false) => {
      const bounded = maxTokens === undefined ? body : withBound(maxTokens);
      const asked = isPlain ? bounded : withUsage(bounded);
      return JSON.stringify(address.model === undefined ? { ...asked, model: provided } : asked);
    },
    headers: pickHeaders(headers),
    isStreamed,
    hidesUsage,
    read: () => format.readRequest(body, { ...address, model }),
    isBounded: boundNames.some((name) => typeof bounds[name] === 'number'),
  };
}

/** Passes it on, and its answer back; undefined where the model speaks another format. */
export async function passAsItCame(
  upstreams: Pick<Upstreams, 'forward'>,
  sent: AsIsRequest,
  request: GatewayRequest,
): Promise<GatewayReply | undefined> {
  const answer = await upstreams.forward(sent, askedBy(request));
  if (answer === undefined) return undefined;
  if ('kind' in answer) return replyFailure(wireFormats[sent.formats[0]], answer);
  const { provider, model } = answer.target;
  const headers = { ...answer.headers, 'x-hotcell-upstream': toHeader(`${provider}/${model}`) };
  return { status: answer.status, headers, body: answer.bytes };
}

/** Headers of clients that say something to providers of their own format. */
const passedHeaders = Object.values(wireFormats).flatMap(({ clientHeaders }) => clientHeaders);

export function pickHeaders(headers: GatewayRequest['headers']): Record<string, string> {
  return Object.fromEntries(
    passedHeaders.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}
