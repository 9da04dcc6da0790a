import { preview } from '../../config/schema-faults.ts';

/** One place where a value does not fit, in words for people and models. */
export interface SchemaIssue {
  /** Such as `items[0].name`; empty for the value as a whole. */
  readonly path: string;
  readonly expected: string;
  readonly got: string;
  /** The words of the plugin's own schema, which stand for themselves. */
  readonly message?: string;
  /** Names that may have been meant. */
  readonly near?: readonly string[];
}

/** One issue as a sentence part: `days: expected an integer, got the text "two"`. */
export function sayIssue(issue: SchemaIssue): string {
  const meant =
    issue.near === undefined || issue.near.length === 0 ? '' : ` (did you mean ${issue.near.map(preview).join(' or ')}?)`;
  if (issue.message !== undefined) return `${issue.path === '' ? '' : `${issue.path}: `}${issue.message}`;
  return `${issue.path === '' ? '' : `${issue.path}: `}expected ${issue.expected}, got ${issue.got}${meant}`;
}

/** `/items/0/name` as `items[0].name`. */
export function sayPath(pointer: string): string {
  let path = '';
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (/^\d+$/.test(key)) path += `[${key}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(key)) path += path === '' ? key : `.${key}`;
    else path += `[${preview(key)}]`;
  }
  return path;
}

/** The path of a member. */
export function joinPath(path: string, key: string): string {
  const step = sayPath(`/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  return path === '' || step.startsWith('[') ? path + step : `${path}.${step}`;
}
