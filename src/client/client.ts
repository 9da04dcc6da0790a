import type { Static, TSchema } from 'typebox';
import Value from 'typebox/value';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventEnvelope } from '../events/event.ts';
import type { OperationContract } from '../operations/operation.ts';
import { type EventQuery, readEvents } from './event-reader.ts';
import { exchange, readText } from './http-exchange.ts';
import { readProblem } from './problem.ts';
import { describeRequest } from './request.ts';

/** Speaks to a daemon, over HTTP or in this process: every operation by its contract, with its types. */
export interface Client {
  /** Runs one operation. Throws the HotcellError of the daemon; aborting `signal` cancels a call. */
  invoke<Input extends TSchema, Output extends TSchema>(
    contract: OperationContract<Input, Output>,
    input: Static<Input>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<Static<Output>>;
  /** Events as they come, until `signal` aborts or the daemon stops. */
  events(query: EventQuery): AsyncIterable<EventEnvelope>;
  close(): Promise<void>;
  /** The daemon is this very process, which nobody else can reach. */
  readonly isAlone?: boolean;
}

/** Speaks to a daemon over HTTP. */
export function createHttpClient({ url, token }: { readonly url: string; readonly token: string }): Client {
  const authorization = `Bearer ${token}`;
  return {
    async invoke(contract, input, { signal } = {}) {
      const { method, path, body, headers } = describeRequest(contract, input);
      const cancel = signal === undefined ? {} : { 'x-hotcell-cancel-on-disconnect': '1' };
      const answer = await exchange({
        url: url + path,
        method,
        headers: { ...headers, ...cancel, authorization, accept: 'application/json' },
        body,
        signal,
      });
      const output = parseJson(await readText(answer));
      if (answer.statusCode !== 200) throw readProblem(output, answer.statusCode);
      if (Value.Check(contract.output, output)) return output;
      throw new HotcellError('internal', `The daemon at ${url} answered ${contract.name} with something else than expected.`, {
        fix: 'Use the hotcell command of the same version as the daemon.',
      });
    },
    events: (query) => readEvents({ ...query, url, headers: { authorization } }),
    close: async () => {},
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
