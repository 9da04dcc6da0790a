import { isErrorCode } from '../errors/catalog.ts';
import { HotcellError } from '../errors/hotcell-error.ts';

/** The error that an answer of the daemon tells. */
export function readProblem(value: unknown, status: number | undefined): HotcellError {
  const members = new Map<string, unknown>(typeof value === 'object' && value !== null ? Object.entries(value) : []);
  const code = members.get('code');
  if (!isErrorCode(code)) {
    return new HotcellError('internal', `The daemon answered with status ${status ?? 'none'} and told no problem that is known.`);
  }
  const detail = members.get('detail');
  const fix = members.get('fix');
  for (const name of ['type', 'title', 'status', 'detail', 'code', 'fix']) members.delete(name);
  return new HotcellError(code, typeof detail === 'string' ? detail : '', {
    facts: Object.fromEntries(members),
    ...(typeof fix === 'string' ? { fix } : {}),
  });
}
