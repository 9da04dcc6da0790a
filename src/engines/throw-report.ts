import type { ErrorCode } from '../errors/catalog.ts';

/** What a guest says of an exception. The guest's own code made it, unless the plugin forged it: every text is bounded. */
export interface ThrowReport {
  readonly name?: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
  /** The built-in of Node that the sandbox does not have and the code reached for last. */
  readonly lacks?: string;
  /** The plugin's own schema refused the arguments, or the output. */
  readonly issues?: readonly GuestIssue[];
}

/** One place where a value does not fit the plugin's own schema, in the words of that schema. */
export interface GuestIssue {
  /** Such as `items[0].name`; empty for the value as a whole. */
  readonly path: string;
  readonly message: string;
}

/** Codes that only come with issues: a plugin that throws an error of its own cannot use them. */
const issueCodes: readonly ErrorCode[] = ['arguments-invalid', 'output-invalid'];

const maxMessage = 4001;
const maxStack = 8001;
const maxName = 101;
const maxIssueText = 300;
const maxIssues = 8;

/** Reads an exception that a guest reported, as JSON text or parsed; never throws. */
export function readThrowReport(given: unknown): ThrowReport {
  const fields = readObject(given);
  const pick = (key: string, maxLength: number): string | undefined => {
    const value = fields[key];
    return typeof value === 'string' ? value.slice(0, maxLength) : undefined;
  };
  const [name, stack, code] = [pick('name', maxName), pick('stack', maxStack), pick('code', maxName)];
  const lacks = pick('lacks', maxName);
  const issues = Array.isArray(fields.issues) ? fields.issues.slice(0, maxIssues).map(readIssue) : undefined;
  return {
    message: pick('message', maxMessage) ?? 'unknown error',
    ...(name === undefined ? {} : { name }),
    ...(stack === undefined ? {} : { stack }),
    ...(code === undefined ? {} : { code }),
    ...(lacks === undefined ? {} : { lacks }),
    ...(issues === undefined ? {} : { issues }),
  };
}

/** The code of a report that a schema of the plugin made. */
export function findIssueCode({ code, issues }: ThrowReport): ErrorCode | undefined {
  return issues === undefined ? undefined : issueCodes.find((known) => known === code);
}

function readIssue(value: unknown): GuestIssue {
  const { path, message } = readObject(value);
  return { path: String(path ?? '').slice(0, maxIssueText), message: String(message ?? '').slice(0, maxIssueText) };
}

function readObject(given: unknown): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = typeof given === 'string' ? JSON.parse(given) : given;
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
  } catch {
    return {};
  }
}
