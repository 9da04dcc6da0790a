import type { GuestIssue } from '../../engines/throw-report.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { PreparedTool } from '../../tools/prepared-tool.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';
import { describeValue, type SchemaIssue, sayIssue } from '../../tools/validation/schema-issue.ts';
import { isObject } from '../../tools/validation/schema-keywords.ts';
import type { ActiveCall } from '../active-call.ts';
import { isTimeoutMs } from '../attempt/deadline.ts';
import type { CallRequest } from '../call-types.ts';

/** Arguments that passed, as a value and as the one JSON text that is both the record and the input of the guest. */
export interface CallArguments {
  readonly value: unknown;
  readonly json: string;
}

const maxSessionLength = 200;

/** Checks the arguments of a call against its tool; absent ones are `{}`. Throws `arguments-invalid` or `payload-too-large`. */
export function readArguments(given: unknown, entry: ToolEntry, tool: PreparedTool): CallArguments {
  const named = given ?? {};
  if (!isObject(named)) {
    throw new HotcellError(
      'arguments-invalid',
      `${sayTool(entry)} takes an object of named arguments, got ${describeValue(named)}.`,
    );
  }
  const sent = stringify(named, entry);
  const value = tool.fillDefaults === undefined ? named : tool.fillDefaults(named);
  const json = value === named ? sent : stringify(value, entry);
  const maxBytes = tool.limits.argumentBytes;
  // A UTF-16 unit is at most three bytes, so most texts need not be measured.
  if (json.length * 3 > maxBytes && Buffer.byteLength(json) > maxBytes) {
    const message = `The arguments of ${sayTool(entry)} are ${Buffer.byteLength(json)} bytes; at most ${maxBytes} are taken.`;
    throw new HotcellError('payload-too-large', message, { fix: 'Send less, or raise limits.argumentBytes.' });
  }
  const issues = tool.input.findIssues(value, json.length);
  if (issues !== undefined) throw refuseArguments(entry, issues);
  return { value, json };
}

/** Checks what else a door hands over unparsed. Returns the session. */
export function readSession(request: CallRequest): string {
  const { session = 'default', timeoutMs } = request;
  if (session === '' || session.length > maxSessionLength) {
    const message = `A session has 1 to ${maxSessionLength} characters; this one has ${session.length}.`;
    throw new HotcellError('body-invalid', message);
  }
  if (timeoutMs !== undefined && !isTimeoutMs(timeoutMs)) {
    throw new HotcellError('body-invalid', `timeoutMs must be a number of at least 1, got ${String(timeoutMs)}.`);
  }
  return session;
}

function stringify(value: unknown, entry: ToolEntry): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    const reason =
      error instanceof RangeError ? 'they are nested too deeply' : 'they hold a cycle or a value that JSON does not know';
    throw new HotcellError('arguments-invalid', `The arguments of ${sayTool(entry)} are not JSON: ${reason}.`);
  }
}

/** The refusal of a schema of the plugin itself, which ran in the sandbox: the same as for a JSON Schema. */
export function refuseParsed(call: ActiveCall, issues: readonly GuestIssue[]): HotcellError {
  const { arguments: given = {} } = call.request;
  const said = issues.map(({ path, message }) => ({ path, expected: message, got: describeValue(findAt(given, path)), message }));
  return refuseArguments(call.entry, said, { executionId: call.record.id });
}

/** What stands at `items[0].name`. */
function findAt(value: unknown, path: string): unknown {
  let found = value;
  for (const key of path.split(/[.[\]]+/).filter((step) => step !== '')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

function refuseArguments(
  entry: ToolEntry,
  issues: readonly SchemaIssue[],
  more: Readonly<Record<string, unknown>> = {},
): HotcellError {
  const message = `The arguments do not fit ${sayTool(entry)}: ${issues.map(sayIssue).join('; ')}.`;
  return new HotcellError('arguments-invalid', message, {
    facts: { tool: entry.name, version: entry.version, issues, ...more },
    fix: `Compare the arguments with the schema: hotcell tool info ${entry.name}.`,
  });
}

function sayTool(entry: ToolEntry): string {
  return `${entry.name}@${entry.version}`;
}
