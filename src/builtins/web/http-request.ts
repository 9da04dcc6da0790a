import { Type } from 'typebox';
import Value from 'typebox/value';
import type { CapabilityTable } from '../../border/capability.ts';
import type { BuiltinSettings } from '../../config/settings/builtin-settings.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { fetchForTool } from '../../tools/hosted/capability-calls.ts';
import type { HostedCall, HostedTool } from '../../tools/hosted/hosted-types.ts';

/** What tools over HTTP work with. */
export interface HttpToolParts {
  readonly answer: CapabilityTable['answer'];
  readonly settings: Pick<BuiltinSettings, 'who' | 'net' | 'maxHttpResponseBytes'>;
}

// Headers that frame the message, or speak for somebody: a model does not.
const blockedHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'cookie',
  'set-cookie',
  'authorization',
  'proxy-authorization',
]);

const input = Type.Object(
  {
    method: Type.Optional(
      Type.Enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'], { default: 'GET', description: 'GET when left out.' }),
    ),
    url: Type.String({ minLength: 1, maxLength: 16_384, description: 'Such as https://api.example.com/v1/items.' }),
    headers: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        additionalProperties: { type: 'string', maxLength: 16_384 },
        maxProperties: 64,
        description: `Without ${[...blockedHeaders].join(', ')}.`,
      }),
    ),
    body: Type.Optional(Type.Unknown({ description: 'A text as it is; anything else is sent as JSON.' })),
  },
  { additionalProperties: false },
);
const output = Type.Object({
  status: Type.Integer(),
  headers: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
  body: Type.String(),
  truncated: Type.Boolean({ description: 'The body is longer than what is here.' }),
});

/** `http_request`: one request to where the operator lets it go. A redirect is answered, not followed. */
export function createHttpRequest({ answer, settings }: HttpToolParts): HostedTool {
  return {
    name: 'http_request',
    description:
      'Sends one HTTP request and answers status, headers and body. Redirects are not followed: the answer holds their location. To read a web page use web_fetch if it is there.',
    input: { ...input },
    output: { ...output },
    tags: ['http', 'web'],
    who: settings.who.http_request,
    timeoutMs: 60_000,
    async run(args, call) {
      const { method = 'GET', url, headers = {}, body } = Value.Parse(input, args);
      const request = { url, method, redirect: 'manual', ...writeBody(headers, body) } as const;
      const got = await fetchForTool(answer, reachPublic(call, settings), request, settings.maxHttpResponseBytes);
      return {
        status: got.status,
        headers: joinHeaders(got.headers),
        body: decodeCut(got.bytes, got.truncated),
        truncated: got.truncated,
      };
    },
  };
}

/** A call with its user, who reaches every public host where the config lets tools do so. */
export function reachPublic(
  { user, signal }: HostedCall,
  { net }: Pick<BuiltinSettings, 'net'>,
): Pick<HostedCall, 'user' | 'signal'> {
  return { user: net === 'public' ? { ...user, reachesPublic: true } : user, signal };
}

function writeBody(
  headers: Readonly<Record<string, string>>,
  body: unknown,
): { readonly headers: [string, string][]; readonly body?: Uint8Array } {
  const written = Object.entries(headers);
  for (const [name] of written) {
    if (blockedHeaders.has(name.trim().toLowerCase())) {
      throw new HotcellError('network-refused', `http_request does not send the header ${name.trim().toLowerCase()}.`, {
        fix: 'Leave it out. A key for a service belongs into a registered tool or a plugin with a secret.',
      });
    }
  }
  if (body === undefined) return { headers: written };
  if (typeof body === 'string') return { headers: written, body: Buffer.from(body) };
  const isTyped = written.some(([name]) => name.toLowerCase() === 'content-type');
  const typed: [string, string][] = isTyped ? written : [...written, ['content-type', 'application/json']];
  return { headers: typed, body: Buffer.from(JSON.stringify(body)) };
}

function joinHeaders(headers: readonly (readonly [string, string])[]): Record<string, string> {
  const joined = new Map<string, string>();
  for (const [name, value] of headers) joined.set(name, joined.has(name) ? `${joined.get(name)}, ${value}` : value);
  return Object.fromEntries(joined);
}

/** The text of bytes; where they were cut, without the piece of a character at their end. */
function decodeCut(bytes: Uint8Array, isCut: boolean): string {
  return new TextDecoder().decode(bytes, { stream: isCut });
}
