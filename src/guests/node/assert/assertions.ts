/** The checks of node:assert; assert.cjs puts them on the function itself. */
import { AssertionError } from './assertion-error.ts';
import { isDeepEqual } from './is-deep-equal.ts';

type Message = string | Error | undefined;
type Check = (actual: unknown, expected: unknown, message?: Message) => void;
/** A class, pattern, object of properties or predicate that a thrown value must fit. */
type Expected = unknown;

export function ok(value: unknown, message?: Message): void {
  if (!value)
    fail({ actual: value, expected: true, operator: '==', message: message ?? 'The expression evaluated to a falsy value' });
}

// biome-ignore lint/suspicious/noDoubleEquals: that is what these two compare with
const isLooselyEqual = (left: unknown, right: unknown) => left == right || (Number.isNaN(left) && Number.isNaN(right));

const loose: Record<string, Check> = {
  equal: check('==', isLooselyEqual),
  notEqual: check('!=', (left, right) => !isLooselyEqual(left, right)),
  deepEqual: check('deepEqual', (left, right) => isDeepEqual(left, right, true)),
  notDeepEqual: check('notDeepEqual', (left, right) => !isDeepEqual(left, right, true)),
};

const strictChecks: Record<string, Check> = {
  strictEqual: check('strictEqual', Object.is),
  notStrictEqual: check('notStrictEqual', (left, right) => !Object.is(left, right)),
  deepStrictEqual: check('deepStrictEqual', (left, right) => isDeepEqual(left, right)),
  notDeepStrictEqual: check('notDeepStrictEqual', (left, right) => !isDeepEqual(left, right)),
};

const shared = {
  AssertionError,
  ok,
  ...strictChecks,
  fail: (message: Message = 'Failed') => fail({ operator: 'fail', message }),
  ifError(value: unknown): void {
    if (value !== null && value !== undefined)
      throw value instanceof Error ? value : new AssertionError({ actual: value, operator: 'ifError' });
  },
  match: (text: string, pattern: RegExp, message?: Message) => need(pattern.test(text), text, pattern, 'match', message),
  doesNotMatch: (text: string, pattern: RegExp, message?: Message) =>
    need(!pattern.test(text), text, pattern, 'doesNotMatch', message),
  throws(run: () => unknown, expected?: Expected, message?: Message): void {
    let thrown: { readonly error: unknown } | undefined;
    try {
      run();
    } catch (error) {
      thrown = { error };
    }
    checkThrown('throws', thrown, expected, message);
  },
  doesNotThrow: (run: () => unknown) => void run(),
  async rejects(promise: Promise<unknown> | (() => Promise<unknown>), expected?: Expected, message?: Message): Promise<void> {
    let thrown: { readonly error: unknown } | undefined;
    try {
      await (typeof promise === 'function' ? promise() : promise);
    } catch (error) {
      thrown = { error };
    }
    checkThrown('rejects', thrown, expected, message);
  },
  async doesNotReject(promise: Promise<unknown> | (() => Promise<unknown>)): Promise<void> {
    await (typeof promise === 'function' ? promise() : promise);
  },
};

/** What node:assert has. */
export const looseAssertions = { ...shared, ...loose };

/** What node:assert/strict has: the short names compare strictly. */
export const strictAssertions = {
  ...shared,
  equal: strictChecks.strictEqual,
  notEqual: strictChecks.notStrictEqual,
  deepEqual: strictChecks.deepStrictEqual,
  notDeepEqual: strictChecks.notDeepStrictEqual,
};

function check(operator: string, holds: (left: unknown, right: unknown) => boolean): Check {
  return (actual, expected, message) => need(holds(actual, expected), actual, expected, operator, message);
}

function need(holds: boolean, actual: unknown, expected: unknown, operator: string, message: Message): void {
  if (!holds) fail({ actual, expected, operator, message });
}

function fail({ message, ...facts }: { actual?: unknown; expected?: unknown; operator: string; message: Message }): never {
  if (message instanceof Error) throw message;
  throw new AssertionError({ ...facts, message });
}

function checkThrown(
  operator: string,
  thrown: { readonly error: unknown } | undefined,
  expected: Expected,
  message: Message,
): void {
  const sentence = typeof expected === 'string' ? expected : message;
  if (!thrown)
    fail({
      operator,
      expected,
      message: sentence ?? (operator === 'throws' ? 'Missing expected exception.' : 'Missing expected rejection.'),
    });
  if (expected === undefined || typeof expected === 'string') return;
  const { error } = thrown;
  if (fits(error, expected)) return;
  const isPredicate = typeof expected === 'function' && !isClass(expected);
  fail({
    actual: error,
    expected,
    operator,
    message: sentence ?? (isPredicate ? 'The validation function did not return true' : undefined),
  });
}

function fits(error: unknown, expected: Expected): boolean {
  if (expected instanceof RegExp) return expected.test(String(error));
  if (typeof expected === 'function') return isClass(expected) ? error instanceof expected : expected(error) === true;
  if (typeof expected !== 'object' || expected === null || typeof error !== 'object' || error === null) return false;
  const keys = expected instanceof Error ? ['name', 'message', ...Object.keys(expected)] : Object.keys(expected);
  return keys.every((key) => {
    const [actual, wanted]: unknown[] = [Reflect.get(error, key), Reflect.get(expected, key)];
    return wanted instanceof RegExp && typeof actual === 'string' ? wanted.test(actual) : isDeepEqual(actual, wanted);
  });
}

/** Error classes and others made with `class`; a plain function is a predicate. */
function isClass(value: unknown): value is abstract new (...args: unknown[]) => unknown {
  if (typeof value !== 'function') return false;
  return value === Error || value.prototype instanceof Error || /^class\b/.test(Function.prototype.toString.call(value));
}
