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

/** A bounded preview of a value that says its kind. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return `the text ${preview(value)}`;
  return `the ${typeof value} ${String(value)}`;
}

/** Text in quotes, cut at 60 characters. */
export function preview(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
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
