import type { ModelFailure } from '../conversation/answer.ts';
import { HotcellError } from '../errors/hotcell-error.ts';

/** What is known of a request that failed. */
export interface FailedRequest {
  /** The name of the model in the config. */
  readonly name: string;
  readonly model: string;
  /** Name of the key in the config, and its value, which no sentence may show. */
  readonly keyName: string | undefined;
  readonly key: string | undefined;
}

const shownChars = 300;

/** Says what an answer of a model server means that is no answer. */
export function explainModelFailure(failure: ModelFailure, { name, model, keyName, key }: FailedRequest): HotcellError {
  const { status } = failure;
  const said = quoteServer(failure, key);
  if (status === 401 || status === 403) {
    const which = keyName === undefined ? 'a request without a key' : `the key "${keyName}"`;
    return new HotcellError('model-failed', `The server of the model "${name}" refused ${which} (HTTP ${status}).${said}`, {
      fix: `Set models.providers.${name}.key to the name of a secret or env value that holds a valid key.`,
    });
  }
  if (status === 404) {
    return new HotcellError('model-failed', `The server of the model "${name}" does not know "${model}" (HTTP 404).${said}`, {
      fix: `Correct models.providers.${name}.model or .baseUrl.`,
    });
  }
  if (status === 429) {
    const wait = failure.retryAfterMs;
    const when = wait === undefined ? '' : ` for ${Math.ceil(wait / 1000)} s`;
    return new HotcellError('rate-limited', `The server of the model "${name}" takes no more requests${when} (HTTP 429).${said}`);
  }
  return new HotcellError('model-failed', `The server of the model "${name}" answered with HTTP ${status}.${said}`);
}

/** What the server said itself: one bounded line, without the key that servers like to repeat. */
function quoteServer({ message }: ModelFailure, key: string | undefined): string {
  const line = message
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .trim();
  const safe = key === undefined ? line : line.replaceAll(key, '[key]');
  if (safe === '') return '';
  return ` It says: "${safe.length > shownChars ? `${safe.slice(0, shownChars)}…` : safe}"`;
}
