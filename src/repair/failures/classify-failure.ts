import type { Recording } from '../../border/border.ts';
import type { Execution } from '../../calls/call-types.ts';
import { omitUndefined } from '../../config/json-object.ts';
import { type ErrorCode, errorCatalog } from '../../errors/catalog.ts';
import type { Diagnostic } from '../../plugins/plugin-types.ts';
import { type Failure, type FailureClass, failureKey, type Judged, type NobodysFault } from './failure.ts';

/** Failures of a plugin's own text or code. What is not named here is not the plugin's fault. */
const classOfCode: Partial<Record<ErrorCode, FailureClass>> = {
  'compile-failed': 'does-not-compile',
  'import-unresolved': 'does-not-compile',
  'import-refused': 'does-not-compile',
  'builtin-refused': 'does-not-compile',
  'entry-invalid': 'does-not-compile',
  'load-failed': 'does-not-load',
  'export-missing': 'manifest-invalid',
  'manifest-invalid': 'manifest-invalid',
  'permissions-invalid': 'manifest-invalid',
  'handler-threw': 'runtime-error',
  'handler-never-settles': 'runtime-error',
  'output-invalid': 'runtime-error',
  'call-cycle': 'runtime-error',
  'time-exceeded': 'limit-reached',
  'memory-exceeded': 'limit-reached',
  'stack-exceeded': 'limit-reached',
  'output-exceeded': 'limit-reached',
  'host-calls-exceeded': 'limit-reached',
  'pending-host-calls-exceeded': 'limit-reached',
};

const needsGrant = 'A person decides what a plugin may do: a repair asks for nothing and gives itself nothing.';
const ofTheCaller = 'The caller asked for what the tool does not do: the same call fails however the plugin is written.';
const ofTheWorld = 'What the plugin asked for did not answer: it may answer the next time.';

const nobodyByCode: Partial<Record<ErrorCode, NobodysFault>> = {
  'permission-denied': { reason: needsGrant, helps: 'grant' },
  'network-refused': { reason: needsGrant, helps: 'grant' },
  'engine-pending': { reason: needsGrant, helps: 'grant' },
  'secret-misplaced': { reason: 'The operator says where a secret may go.', helps: 'operator' },
  'arguments-invalid': { reason: ofTheCaller, helps: 'caller' },
  'file-refused': { reason: ofTheCaller, helps: 'caller' },
  'file-failed': { reason: 'The workspace of the caller has not what was asked for.', helps: 'caller' },
  'tool-unknown': { reason: 'The plugin calls a tool that is not there now.', helps: 'operator' },
  'approval-denied': { reason: 'A person said no.', helps: 'caller' },
  'approval-expired': { reason: 'Nobody answered a question of the plugin.', helps: 'caller' },
  cancelled: { reason: 'The call was cancelled.', helps: 'caller' },
  interrupted: { reason: 'The daemon was stopped while the call ran.', helps: 'wait' },
  'network-failed': { reason: ofTheWorld, helps: 'wait' },
  'model-failed': { reason: ofTheWorld, helps: 'wait' },
  'mcp-unreachable': { reason: ofTheWorld, helps: 'wait' },
  'mcp-tool-failed': { reason: ofTheWorld, helps: 'wait' },
  'service-failed': { reason: ofTheWorld, helps: 'wait' },
  'search-failed': { reason: ofTheWorld, helps: 'wait' },
  'queue-full': { reason: 'The daemon had too much to do.', helps: 'wait' },
  'rate-limited': { reason: 'The caller asked too often.', helps: 'wait' },
};

/** Judges a build that failed, whether the plugin ever loaded or not. */
export function classifyDiagnostic(path: string, diagnostic: Diagnostic): Judged {
  const { code, message, file, line, column, codeFrame, fix } = diagnostic;
  const known = classOfCode[code];
  // A limit that is reached while the module is evaluated is a plugin that does not load.
  const failureClass = known === 'limit-reached' || known === 'runtime-error' ? 'does-not-load' : known;
  if (failureClass === undefined) return { nobody: judgeOther(code) };
  return {
    failure: {
      ...nameFailure(path, failureClass, code, message),
      ...omitUndefined({ file, line, column, codeFrame }),
      fix,
    },
  };
}

/** Judges a call that ended without success. `recording` tells what the world answered it. */
export function classifyExecution(
  path: string,
  execution: Pick<Execution, 'id' | 'tool' | 'status' | 'error'>,
  recording?: Pick<Recording, 'crossings'>,
): Judged {
  const { id: executionId, tool, status, error } = execution;
  if (status === 'cancelled') return { nobody: judgeOther('cancelled') };
  if (error === undefined) return { nobody: { reason: `The call did not fail: it is ${status}.`, helps: 'wait' } };
  const failureClass = classOfCode[error.code];
  if (failureClass === undefined) return { nobody: judgeOther(error.code) };
  if ((error.refused?.length ?? 0) > 0) return { nobody: { reason: needsGrant, helps: 'grant' } };
  const answered = recording === undefined ? undefined : judgeAnswers(recording);
  // Who does not take a refusal of the world into account says so in its own words, and whatever breaks next is its consequence.
  if (answered !== undefined) return { nobody: answered };
  const { code, name, message, frames, codeFrame, fix } = error;
  const own = frames?.find(({ file }) => !file.includes('node_modules'));
  const said = name === undefined ? message : `${name}: ${message}`;
  return {
    failure: {
      ...nameFailure(path, failureClass, code, said),
      ...omitUndefined({ file: own?.file, line: own?.line, column: own?.column, codeFrame }),
      fix,
      executionId,
      tool,
    },
  };
}

/** Judges a health check or an example that did not come out: `said` is what was expected and what came. */
export function classifyCheck(path: string, check: { readonly tool?: string; readonly said: string }): Failure {
  return {
    ...nameFailure(path, 'check-failed', 'handler-threw', check.said),
    fix: 'Mend the code that the health check or the example runs.',
    ...omitUndefined({ tool: check.tool }),
  };
}

function nameFailure(path: string, failureClass: FailureClass, code: ErrorCode, message: string) {
  return { path, class: failureClass, key: failureKey(path, failureClass, code, message), code, message };
}

function judgeOther(code: ErrorCode): NobodysFault {
  return nobodyByCode[code] ?? { reason: `${errorCatalog[code].title}: that is not for the plugin to mend.`, helps: 'operator' };
}

/** What the last answers of the world say: a host that is down, too busy or broken; undefined when it answered as it should. */
function judgeAnswers({ crossings }: Pick<Recording, 'crossings'>): NobodysFault | undefined {
  const last = crossings.findLast(({ op }) => !op.startsWith('kv.') && op !== 'fetch.cancel');
  if (last === undefined) return undefined;
  if (!last.answer.ok) {
    const { code } = last.answer;
    const known = Object.entries(nobodyByCode).find(([name]) => name === code);
    return known?.[1];
  }
  const status = last.op === 'fetch' ? readStatus(last.answer.payload) : undefined;
  if (status === undefined || (status < 500 && status !== 429)) return undefined;
  return { reason: `A host that the plugin asked answered ${status}.`, helps: 'wait' };
}

function readStatus(payload: string): number | undefined {
  const status = /"status":\s*(\d{3})\b/.exec(payload.slice(0, 4096))?.[1];
  return status === undefined ? undefined : Number(status);
}
