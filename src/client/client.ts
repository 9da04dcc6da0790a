import type { Static, TSchema } from 'typebox';
import { readJson } from '../config/json-object.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventEnvelope } from '../events/event.ts';
import type { OperationContract, OperationStream } from '../operations/operation.ts';
import { readAnswerStream } from './answer-reader.ts';
import { type EventQuery, readEvents } from './event-reader.ts';
import { exchange, explainLoss, readAnswerText } from './http-exchange.ts';
import { readProblem } from './problem.ts';
import { describeRequest } from './request.ts';

/** How an operation is asked for. */
export interface InvokeOptions {
  readonly signal?: AbortSignal | undefined;
  /** Told what happens meanwhile, of operations that tell it; nothing after the answer. */
  readonly stream?: OperationStream | undefined;
}

/** Speaks to a daemon, over HTTP or in this process: every operation by its contract, with its types. */
export interface Client {
  /** Runs one operation. Throws the HotcellError of the daemon; aborting `signal` cancels a call. */
  invoke<Input extends TSchema, Output extends TSchema>(
    contract: OperationContract<Input, Output>,
    input: Static<Input>,
    options?: InvokeOptions,
  ): Promise<Static<Output>>;
  /** Events as they come, until `signal` aborts or the daemon stops. */
  events(query: EventQuery): AsyncIterable<EventEnvelope>;
  close(): Promise<void>;
  /** The daemon is this very process, which nobody else can reach. */
  readonly isAlone?: boolean;
  /** Where the daemon listens. */
  readonly url?: string;
  /** The daemon was started from other code than this program has now. */
  readonly isOutdated?: boolean;
}

/** Where a daemon is, and what its answers are worth. */
interface HttpClientOptions {
  readonly url: string;
  readonly token: string;
  /** It has the contracts that this client has: to check its answers against them would take longer than most commands. */
  readonly isSameProgram?: boolean | undefined;
}

/** Speaks to a daemon over HTTP; answers are checked against the contracts, unless the daemon is of this very program. */
export function createHttpClient({ url, token, isSameProgram }: HttpClientOptions): Client {
  const authorization = `Bearer ${token}`;
  return {
    async invoke(contract, input, { signal, stream } = {}) {
      const { method, path, body, headers } = describeRequest(contract, input);
      const cancel = signal === undefined ? {} : { 'x-hotcell-cancel-on-disconnect': '1' };
      const answer = await exchange({
        url: url + path,
        method,
        headers: { ...headers, ...cancel, authorization, accept: stream === undefined ? 'application/json' : streamOrJson },
        body,
        signal,
      });
      const isStream = stream !== undefined && answer.headers['content-type']?.startsWith('text/event-stream');
      const output = await (isStream ? readAnswerStream(answer, stream) : readAnswerText(answer).then(readJson)).catch(
        (error) => {
          throw explainLoss(error, signal);
        },
      );
      if (answer.statusCode !== 200) throw readProblem(output, answer.statusCode);
      if (isAnswer(contract.output, output, isSameProgram ? undefined : await readCheck())) return output;
      throw new HotcellError('internal', `The daemon at ${url} answered ${contract.name} with something else than expected.`, {
        fix: 'Start the daemon again, so that it runs the same program as this command.',
      });
    },
    events: (query) => readEvents({ ...query, url, headers: { authorization }, isSameProgram: isSameProgram === true }),
    close: async () => {},
    url,
    isOutdated: isSameProgram === false,
  };
}

const streamOrJson = 'text/event-stream, application/json';

type Check = (schema: TSchema, value: unknown) => boolean;

/** The checker of schemas is read when it is needed. */
async function readCheck(): Promise<Check> {
  return (await import('typebox/value')).Check;
}

function isAnswer<Output extends TSchema>(schema: Output, value: unknown, check: Check | undefined): value is Static<Output> {
  return check === undefined || check(schema, value);
}
