import { FormData } from 'undici';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { ModelCatalog } from '../models/catalog.ts';
import { estimateRequest } from '../models/prices.ts';
import type { AsIsRequest, Upstreams } from '../models/upstream.ts';
import { requireObject } from '../models/wire/json-fields.ts';
import type { RequestAddress, WireFormatName } from '../models/wire/wire-format.ts';
import { wireFormats } from '../models/wire/wire-formats.ts';
import { replyFailure, replyJson } from './answer-client.ts';
import { asItCame, passAsItCame, pickHeaders } from './as-it-came.ts';
import { askedBy, type GatewayReply, type GatewayRequest } from './gateway-types.ts';

/** Creates what clients ask for beside answers of models. */
export function createBesideAnswers({ upstreams, catalog }: { upstreams: Upstreams; catalog: ModelCatalog }) {
  const list = (request: GatewayRequest) => catalog.list(askedBy(request), { isFetched: true });

  return {
    /** The models of a caller, or one of them, in the shape of a format. */
    async listModels(format: WireFormatName, request: GatewayRequest): Promise<GatewayReply> {
      return replyJson(wireFormats[format].describeModels(await list(request)));
    },
    async getModel(format: WireFormatName, id: string, request: GatewayRequest): Promise<GatewayReply> {
      const found = (await list(request)).find(({ name }) => name === id);
      if (found !== undefined) return replyJson(wireFormats[format].describeModel(found));
      // It says which names are near.
      await catalog.resolve(id, askedBy(request));
      throw new HotcellError('not-found', `There is no model "${id.slice(0, 128)}" in the list.`);
    },
    /** How many tokens a request has: as the provider counts them, where its format has that, else as it is estimated. */
    async countTokens(name: WireFormatName, request: GatewayRequest, address: RequestAddress = {}): Promise<GatewayReply> {
      const format = wireFormats[name];
      const { tokenCounting } = format;
      if (tokenCounting === undefined) throw new HotcellError('not-found', `The format ${name} counts no tokens.`);
      const body = requireObject(request.body, 'body');
      const counted = tokenCounting.requestIn(body);
      const usual = asItCame(format, body, request, address);
      const told = await passAsItCame(
        upstreams,
        { ...usual, path: tokenCounting.pathOf, isStreamed: false, isFree: true },
        request,
      );
      return told ?? replyJson(tokenCounting.write(estimateRequest(format.readRequest(counted, address))));
    },
    async embed(request: GatewayRequest): Promise<GatewayReply> {
      const body = requireObject(request.body, 'body');
      const sent = plain('/embeddings', textOf(body.model), request, (model) => JSON.stringify({ ...body, model }));
      return (await passAsItCame(upstreams, sent, request)) ?? refuseFormat('embeddings');
    },
    async transcribe(request: GatewayRequest): Promise<GatewayReply> {
      const form = await readForm(request);
      const sent = plain('/audio/transcriptions', catalog.speechModelOf(textOf(form.get('model'))), request, (model) => {
        const copy = new FormData();
        for (const [name, value] of form) {
          if (name !== 'model') copy.append(name, value);
        }
        copy.set('model', model);
        return copy;
      });
      return (await passAsItCame(upstreams, sent, request)) ?? refuseFormat('audio/transcriptions');
    },
  };
}

/** A request that only OpenAI's APIs have, and that has nothing of a conversation. */
function plain(path: string, model: string, { headers }: GatewayRequest, body: AsIsRequest['body']): AsIsRequest {
  return {
    formats: ['openai-chat', 'openai-responses'],
    model,
    path: () => path,
    body,
    headers: pickHeaders(headers),
    isStreamed: false,
    read: () => ({ model, system: [], messages: [], tools: [], nativeTools: [], sampling: {}, maxTokens: 0, isStreamed: false }),
    isBounded: true,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function refuseFormat(what: string): GatewayReply {
  const message = `The provider of this model does not speak the OpenAI format, which alone has ${what}.`;
  return replyFailure(wireFormats['openai-chat'], { kind: 'invalid-request', status: 400, message, param: 'model' });
}

/** More than any client sends: a form is taken apart in one go, for which everybody else waits. */
const maxFormParts = 100;

/** Every part has a header of this name, whatever stands between them. */
function requireFewParts(body: Uint8Array): void {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  let count = 0;
  for (const _ of text.matchAll(/content-disposition/gi)) {
    count += 1;
    if (count > maxFormParts) throw new HotcellError('body-invalid', `The form has more than ${maxFormParts} parts.`);
  }
}

async function readForm({ body, headers }: GatewayRequest) {
  if (body instanceof Uint8Array) requireFewParts(body);
  try {
    if (!(body instanceof Uint8Array)) throw new TypeError('no form');
    return await new Response(Buffer.from(body), { headers: { 'content-type': String(headers['content-type']) } }).formData();
  } catch (error) {
    throw new HotcellError('body-invalid', 'Expected a form (multipart/form-data) with "file" and "model".', { cause: error });
  }
}
