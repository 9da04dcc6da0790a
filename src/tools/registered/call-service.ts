import { Buffer } from 'node:buffer';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { CapabilityTable } from '../../border/capability.ts';
import { isErrorCode } from '../../errors/catalog.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';

import { fillText } from '../../secrets/named-secrets.ts';
import type { SecretBook } from '../../secrets/secret-types.ts';
import type { HostedCall } from '../hosted/hosted-types.ts';
import type { ServiceHandler } from './definition.ts';

/** How a service is reached: through the checks that hold for plugins. */
export interface ServiceParts {
  readonly answer: CapabilityTable['answer'];
  readonly secrets: Pick<SecretBook, 'placeholderOf'>;
  /** The most of one answer, in bytes. */
  readonly maxBytes: number;
}

const head = Compile(
  Type.Object({
    status: Type.Integer(),
    headers: Type.Array(Type.Tuple([Type.String(), Type.String()])),
    truncated: Type.Boolean(),
    stream: Type.Optional(Type.String()),
  }),
);
const piece = Compile(Type.Object({ done: Type.Boolean(), truncated: Type.Boolean() }));
const withoutBody: ReadonlySet<string> = new Set(['GET', 'DELETE']);
const maxToldChars = 500;

/**
 * Asks the service of a registered tool: arguments as JSON, or in the query where a request has no body. Answers its JSON, or its
 * text. The network check, the grants of the tool and the bindings of its secrets hold; nothing is followed elsewhere.
 */
export async function callService(
  { url, method = 'POST', headers = {} }: ServiceHandler,
  args: unknown,
  { parts, call }: { readonly parts: ServiceParts; readonly call: HostedCall },
): Promise<unknown> {
  const { executionId } = call.user;
  const secret = (name: string) => parts.secrets.placeholderOf(executionId, name);
  const hasBody = !withoutBody.has(method);
  const target = fillText(url, secret);
  const filled = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), fillText(value, secret)]);
  const first = await ask(parts, call, {
    op: 'fetch',
    payload: {
      url: hasBody ? target : addQuery(target, args),
      method,
      headers: hasBody ? [['content-type', 'application/json'], ...filled] : filled,
      redirect: 'error',
    },
    ...(hasBody ? { body: Buffer.from(JSON.stringify(args)) } : {}),
  });
  if (!head.Check(first.payload)) throw new HotcellError('internal', 'The answer of the service has no head.');
  const { status, headers: got, stream, truncated } = first.payload;
  const bytes = await readBody(parts, call, { stream, truncated, first: first.body });
  const text = bytes.toString('utf8');
  if (status >= 400) {
    throw new HotcellError(
      'service-failed',
      `The service of "${call.user.tool}" answered ${status}: ${text.slice(0, maxToldChars)}`,
    );
  }
  const isJson = got.some(([name, value]) => name === 'content-type' && /[/+]json\b/i.test(value));
  return isJson && text !== '' ? readJson(text, call.user.tool) : text;
}

async function readBody(
  parts: ServiceParts,
  call: HostedCall,
  { stream, truncated, first }: { readonly stream: string | undefined; readonly truncated: boolean; readonly first: Uint8Array },
): Promise<Buffer> {
  const pieces = [first];
  let bytes = first.length;
  let isOver = stream === undefined;
  let isCut = truncated;
  while (!isOver && !isCut && bytes <= parts.maxBytes) {
    const next = await ask(parts, call, { op: 'fetch.read', payload: { stream, fill: true } });
    if (!piece.Check(next.payload)) throw new HotcellError('internal', 'A piece of the answer of the service has no head.');
    pieces.push(next.body);
    bytes += next.body.length;
    isOver = next.payload.done;
    isCut = next.payload.truncated;
  }
  if (!isOver || isCut || bytes > parts.maxBytes) {
    const message = `The service of "${call.user.tool}" answers more than the ${parts.maxBytes} bytes that are taken.`;
    throw new HotcellError('output-exceeded', message);
  }
  return Buffer.concat(pieces);
}

async function ask(
  { answer }: ServiceParts,
  { user, signal }: HostedCall,
  { op, payload, body }: { readonly op: string; readonly payload: object; readonly body?: Uint8Array },
): Promise<{ readonly payload: unknown; readonly body: Uint8Array }> {
  const answered = await answer({ op, payload: JSON.stringify(payload), ...(body === undefined ? {} : { body }) }, user, signal);
  if (answered.ok) return { payload: JSON.parse(answered.payload), body: answered.body ?? new Uint8Array() };
  throw new HotcellError(isErrorCode(answered.code) ? answered.code : 'internal', answered.message);
}

/** Numbers, texts and truth values as they are, all else as JSON. */
function addQuery(target: string, args: unknown): string {
  const url = URL.parse(target);
  if (url === null) return target;
  for (const [name, value] of Object.entries(Object(args))) {
    url.searchParams.append(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  return url.href;
}

function readJson(text: string, tool: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HotcellError('service-failed', `The service of "${tool}" says that it answers JSON, and does not.`, { cause });
  }
}
