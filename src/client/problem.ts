import { type ErrorCode, errorCatalog } from '../errors/catalog.ts';
import { HotcellError } from '../errors/hotcell-error.ts';

/** The error that an answer of the daemon tells. */
export function readProblem(value: unknown, status: number | undefined): HotcellError {
  const problem = typeof value === 'object' && value !== null ? value : {};
  const {
    code,
    detail,
    fix,
    type: _type,
    title: _title,
    status: _status,
    ...facts
  } = { code: '', detail: '', fix: '', type: '', title: '', status: 0, ...problem };
  if (!isErrorCode(code))
    return new HotcellError('internal', `The daemon answered with status ${status ?? 'none'}, and no problem that is known.`);
  return new HotcellError(code, detail, { fix, facts });
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorCatalog, code);
}
