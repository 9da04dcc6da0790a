import { Buffer } from 'node:buffer';
import type { CapabilityTable } from '../../border/capability.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { fillText } from '../../secrets/named-secrets.ts';
import type { SecretRegistry } from '../../secrets/secret-types.ts';
import { fetchForTool } from '../hosted/capability-calls.ts';
import type { HostedCall } from '../hosted/hosted-types.ts';
import type { ServiceHandler } from './definition.ts';

/** How a service is reached: through the checks that hold for plugins. */
export interface ServiceParts {
  readonly answer: CapabilityTable['answer'];
  readonly secrets: Pick<SecretRegistry, 'placeholderOf'>;
  /** The most of one answer, in bytes. */
  readonly maxBytes: number;
}

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
  const filled = Object.entries(headers).map(([name, value]): [string, string] => [name.toLowerCase(), fillText(value, secret)]);
  const {
    status,
    headers: got,
    bytes,
    truncated,
  } = await fetchForTool(
    parts.answer,
    call,
    {
      url: hasBody ? target : addQuery(target, args),
      method,
      headers: hasBody ? [['content-type', 'application/json'], ...filled] : filled,
      redirect: 'error',
      body: hasBody ? Buffer.from(JSON.stringify(args)) : undefined,
    },
    parts.maxBytes,
  );
  if (truncated) {
    const message = `The service of "${call.user.tool}" answers more than the ${parts.maxBytes} bytes that are taken.`;
    throw new HotcellError('output-exceeded', message);
  }
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
