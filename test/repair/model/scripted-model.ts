import type { ServerResponse } from 'node:http';
import type { Settings } from '../../../src/config/schema.ts';
import { type Provider, type ProviderRequest, sendJson, sendStream, startProvider } from '../../gateway/provider-server.ts';

/** Wire formats in which the scripted model speaks; the name is that of its provider, too. */
export const spoken = ['openai-chat', 'anthropic', 'openai-responses', 'gemini'] as const;
export type Spoken = (typeof spoken)[number];

/** What the model does when it is asked: says something, calls a tool of a repair, refuses, or never ends. */
export type Said =
  | { readonly text: string; readonly stop?: 'end' | 'cut' | 'refusal' }
  | { readonly tool: string; readonly args: string }
  | 'without end'
  | 'an error';

export const callTool = (tool: string, args: object): Said => ({ tool, args: JSON.stringify(args) });

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const pieces = (text: string) => text.match(/[\s\S]{1,900}/g) ?? [];

/** Beginning, text and end of an answer as each format streams it. */
const wires = {
  'openai-chat': {
    path: '/v1',
    write(said: Exclude<Said, string>) {
      const chunk = (delta: object, finish_reason: string | null = null) =>
        data({
          id: 'c1',
          object: 'chat.completion.chunk',
          created: 1,
          model: 'm',
          choices: [{ index: 0, delta, finish_reason }],
        });
      const usage = data({
        id: 'c1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [],
        usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
      });
      const head = chunk({ role: 'assistant', content: '' });
      if ('tool' in said) {
        const [first = '', ...rest] = pieces(said.args);
        const call = (fields: object) => chunk({ tool_calls: [{ index: 0, ...fields }] });
        const begin = call({ id: 'call_1', type: 'function', function: { name: said.tool, arguments: first } });
        const body = rest.map((piece) => call({ function: { arguments: piece } })).join('');
        return `${head}${begin}${body}${chunk({}, 'tool_calls')}${usage}data: [DONE]\n\n`;
      }
      const field = said.stop === 'refusal' ? 'refusal' : 'content';
      const body = pieces(said.text).map((piece) => chunk({ [field]: piece }));
      return `${head}${body.join('')}${chunk({}, said.stop === 'cut' ? 'length' : 'stop')}${usage}data: [DONE]\n\n`;
    },
    more: (text: string) => data({ id: 'c1', choices: [{ index: 0, delta: { content: text }, finish_reason: null }] }),
  },
  anthropic: {
    path: '',
    write(said: Exclude<Said, string>) {
      const event = (value: { readonly type: string } & Record<string, unknown>) => `event: ${value.type}\n${data(value)}`;
      const message = { id: 'm1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null };
      const isTool = 'tool' in said;
      const block = isTool ? { type: 'tool_use', id: 'call_1', name: said.tool, input: {} } : { type: 'text', text: '' };
      const deltas = isTool
        ? pieces(said.args).map((piece) => ({ type: 'input_json_delta', partial_json: piece }))
        : pieces(said.text).map((piece) => ({ type: 'text_delta', text: piece }));
      const stop_reason = isTool ? 'tool_use' : { end: 'end_turn', cut: 'max_tokens', refusal: 'refusal' }[said.stop ?? 'end'];
      return [
        event({ type: 'message_start', message: { ...message, usage: { input_tokens: 100, output_tokens: 1 } } }),
        event({ type: 'content_block_start', index: 0, content_block: block }),
        ...deltas.map((delta) => event({ type: 'content_block_delta', index: 0, delta })),
        event({ type: 'content_block_stop', index: 0 }),
        event({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 10 } }),
        event({ type: 'message_stop' }),
      ].join('');
    },
    more: (text: string) =>
      `event: content_block_delta\n${data({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })}`,
  },
  'openai-responses': {
    path: '/v1',
    write(said: Exclude<Said, string>) {
      let sequence_number = 0;
      const event = (type: string, fields: object) =>
        `event: ${type}\n${data({ type, sequence_number: sequence_number++, ...fields })}`;
      const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] };
      const isTool = 'tool' in said;
      const part = isTool
        ? undefined
        : said.stop === 'refusal'
          ? { type: 'refusal', refusal: said.text }
          : { type: 'output_text', text: said.text, annotations: [] };
      const item = isTool
        ? { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: said.tool, arguments: said.args, status: 'completed' }
        : { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] };
      const empty = isTool ? { ...item, arguments: '', status: 'in_progress' } : { ...item, content: [], status: 'in_progress' };
      const at = { output_index: 0, item_id: item.id };
      const kind = isTool ? 'function_call_arguments' : said.stop === 'refusal' ? 'refusal' : 'output_text';
      const deltas = pieces(isTool ? said.args : said.text).map((delta) =>
        event(`response.${kind}.delta`, { ...at, ...(isTool ? {} : { content_index: 0 }), delta }),
      );
      const isCut = !isTool && said.stop === 'cut';
      const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
      const ended = { ...response, status: isCut ? 'incomplete' : 'completed', output: [item], usage };
      return [
        event('response.created', { response }),
        event('response.output_item.added', { output_index: 0, item: empty }),
        ...(isTool
          ? []
          : [
              event('response.content_part.added', {
                ...at,
                content_index: 0,
                part: { ...part, ...(said.stop === 'refusal' ? { refusal: '' } : { text: '' }) },
              }),
            ]),
        ...deltas,
        event('response.output_item.done', { output_index: 0, item }),
        event(isCut ? 'response.incomplete' : 'response.completed', {
          response: { ...ended, ...(isCut && { incomplete_details: { reason: 'max_output_tokens' } }) },
        }),
      ].join('');
    },
    more: (delta: string) =>
      data({
        type: 'response.output_text.delta',
        sequence_number: 9,
        output_index: 0,
        content_index: 0,
        item_id: 'msg_1',
        delta,
      }),
  },
  gemini: {
    path: '',
    write(said: Exclude<Said, string>) {
      const chunk = (parts: readonly object[], more: object = {}) =>
        data({ candidates: [{ content: { role: 'model', parts }, index: 0, ...more }], modelVersion: 'm', responseId: 'g1' });
      const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 };
      const end = (finishReason: string) =>
        data({
          candidates: [{ content: { role: 'model', parts: [] }, finishReason, index: 0 }],
          usageMetadata,
          modelVersion: 'm',
          responseId: 'g1',
        });
      if ('tool' in said) {
        // A call comes in one piece, and its arguments are JSON already: what is none cannot be said.
        const isJson = said.args.trim().endsWith('}');
        const args = isJson ? JSON.parse(said.args) : { blocks: said.args };
        return chunk([{ functionCall: { id: 'call_1', name: said.tool, args } }]) + end('STOP');
      }
      const body = pieces(said.text).map((text) => chunk([{ text }]));
      return body.join('') + end({ end: 'STOP', cut: 'MAX_TOKENS', refusal: 'SAFETY' }[said.stop ?? 'end']);
    },
    more: (text: string) =>
      data({ candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0 }], modelVersion: 'm', responseId: 'g1' }),
  },
} as const;

/** A model server of a format that says these things in turn, streamed, and has nothing to say after them. */
export async function startScriptedModel(format: Spoken) {
  const provider: Provider = await startProvider();
  const wire = wires[format];
  let script: Said[] = [];
  provider.always((request, response) => answer(format, script.shift() ?? { text: 'I do not know.' }, request, response));
  return {
    ...provider,
    settings: {
      models: { providers: { [format]: { baseUrl: `${provider.url}${wire.path}`, format, model: 'm', maxRetries: 0 } } },
    } satisfies Settings,
    say(...said: readonly Said[]) {
      script = [...said];
      provider.seen.length = 0;
    },
  };
}

function answer(format: Spoken, said: Said, request: ProviderRequest, response: ServerResponse): void {
  const wire = wires[format];
  const isStreamed = request.body.stream === true || request.path.includes('streamGenerateContent');
  if (!isStreamed) sendJson(response, { error: { message: 'Ask for a stream.' } }, 400);
  else if (said === 'an error') sendJson(response, { error: { type: 'api_error', message: 'Out of order.' } }, 500);
  else if (said === 'without end') sendForever(response, wire.write({ text: '' }).split('\n\n'), wire.more);
  else sendStream(response, wire.write(said));
}

/** Until whoever reads it hangs up; each piece waits for the one before it. */
function sendForever(response: ServerResponse, whole: readonly string[], more: (text: string) => string): void {
  const isBeginning = (event: string): boolean =>
    /"(?:message_start|content_block_start|response\.(?:created|output_item\.added|content_part\.added))"/.test(event);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(
    whole
      .filter(isBeginning)
      .map((event) => `${event}\n\n`)
      .join(''),
  );
  const piece = more('lines without end\n'.repeat(1000));
  const go = (): void => {
    if (!response.destroyed) response.write(piece, (error) => error ?? setImmediate(go));
  };
  go();
}
