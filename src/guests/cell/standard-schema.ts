/** Runs the schema objects of a plugin (standardschema.dev): what they make of a value is the value. */

interface Issue {
  readonly message?: unknown;
  readonly path?: readonly unknown[];
}

type Checked = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

/** A value of this kind has `~standard`, as an object or as a function. */
export interface StandardSchema {
  readonly '~standard': { readonly validate?: (value: unknown) => Checked | PromiseLike<Checked>; readonly jsonSchema?: unknown };
}

/** Ends a call with a code of the daemon. Made by the guest's own code alone: what a plugin throws is never one. */
export class GuestRefusal {
  readonly code: 'arguments-invalid' | 'output-invalid' | 'output-exceeded';
  readonly message: string;
  readonly issues: readonly { readonly path: string; readonly message: string }[] | undefined;

  constructor(code: GuestRefusal['code'], message: string, issues?: GuestRefusal['issues']) {
    this.code = code;
    this.message = message;
    this.issues = issues;
  }
}

const maxIssues = 8;
const maxMessage = 300;

export function isStandardSchema(value: unknown): value is StandardSchema {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value;
}

/** Whether a value is a schema that checks, not only one that describes. */
export function isParsing(schema: unknown): schema is StandardSchema {
  return isStandardSchema(schema) && typeof schema['~standard']?.validate === 'function';
}

/** Hands to `next` what the schema makes of the value, at once where the schema answers at once. Throws GuestRefusal. */
export function parseWith(
  schema: unknown,
  value: unknown,
  code: 'arguments-invalid' | 'output-invalid',
  next: (parsed: unknown) => unknown,
): unknown {
  if (!isParsing(schema)) return next(value);
  const take = (checked: Checked): unknown => {
    if (!checked?.issues) return next((checked as { value?: unknown })?.value);
    const what = code === 'arguments-invalid' ? 'The arguments do not fit' : 'The output does not fit its schema';
    const issues = checked.issues.slice(0, maxIssues).map(describeIssue);
    throw new GuestRefusal(code, `${what}: ${issues.map(sayIssue).join('; ')}.`, issues);
  };
  const checked = schema['~standard'].validate?.(value) as Checked | PromiseLike<Checked>;
  return checked && 'then' in checked ? Promise.resolve(checked).then(take) : take(checked as Checked);
}

/** A step of a path is a key, or an object that holds it. */
function describeIssue({ message, path = [] }: Issue): { path: string; message: string } {
  let said = '';
  for (const step of path) {
    const key = typeof step === 'object' && step !== null ? (step as { key?: unknown }).key : step;
    if (typeof key === 'number') said += `[${key}]`;
    else said += `${said === '' ? '' : '.'}${String(key)}`;
  }
  return { path: said.slice(0, maxMessage), message: String(message ?? 'it does not fit').slice(0, maxMessage) };
}

function sayIssue({ path, message }: { readonly path: string; readonly message: string }): string {
  return path === '' ? message : `${path}: ${message}`;
}
