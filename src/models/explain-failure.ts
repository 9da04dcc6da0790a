import type { ModelFailure } from '../conversation/answer.ts';
import { type ErrorCode, errorCatalog } from '../errors/catalog.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { UpstreamTarget } from './upstream.ts';

const shownChars = 300;

/** Says what a failure of a model means, and which line of the config to change. `target` was asked last, where anybody was. */
export function explainModelFailure(failure: ModelFailure, target: UpstreamTarget | undefined): HotcellError {
  const { status, code = '' } = failure;
  // The daemon refused by itself, with the sentence and what helps.
  if (isErrorCode(code)) {
    const { fix = '', retryAfterMs } = failure;
    const message = failure.message.slice(0, failure.message.length - fix.length).trimEnd();
    return new HotcellError(code, message, {
      ...(fix === '' ? {} : { fix }),
      ...(retryAfterMs === undefined ? {} : { facts: { retryAfterMs } }),
    });
  }
  const said = tameLine(failure.message);
  if (target === undefined) return new HotcellError('model-failed', said);
  const { provider, model, timeoutMs } = target;
  const at = `models.providers.${provider}`;
  if (code === 'upstream_key_refused')
    return new HotcellError('model-failed', said, {
      fix: `Set ${at}.key to the name of a secret or env value that holds a valid key.`,
    });
  if (failure.kind === 'timeout') {
    return new HotcellError('time-exceeded', `The model "${provider}/${model}" said nothing for ${timeoutMs} ms.`, {
      fix: `Ask for less, or raise ${at}.timeoutMs in the config.`,
    });
  }
  if (status === 404 || failure.kind === 'not-found') {
    return new HotcellError(
      'model-failed',
      `The provider "${provider}" does not know "${model}" (HTTP ${status}). It says: "${said}"`,
      {
        fix: `Correct ${at}.model or .baseUrl; hotcell models list --fetch shows what it has.`,
      },
    );
  }
  if (failure.kind === 'rate-limited') {
    const wait = failure.retryAfterMs;
    const when = wait === undefined ? '' : ` for ${Math.ceil(wait / 1000)} s`;
    return new HotcellError(
      'rate-limited',
      `The provider "${provider}" takes no more requests${when} (HTTP ${status}). It says: "${said}"`,
      {
        facts: wait === undefined ? {} : { retryAfterMs: wait },
      },
    );
  }
  // What the daemon says of a provider names it already.
  if (code.startsWith('upstream_'))
    return new HotcellError('model-failed', said, {
      fix: `Check ${at}.baseUrl and .format in the config, and that the server runs.`,
    });
  return new HotcellError('model-failed', `The provider "${provider}" answered with HTTP ${status}. It says: "${said}"`);
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalog, code);
}

/** One bounded line: what servers say goes to terminals and to models. */
function tameLine(message: string): string {
  const line = message
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .trim();
  return line.length > shownChars ? `${line.slice(0, shownChars)}…` : line;
}
