import { describe, expect, it } from 'vitest';
import type { Recording } from '../../../src/border/border.ts';
import type { ExecutionError } from '../../../src/calls/call-types.ts';
import { type ErrorCode, errorCatalog } from '../../../src/errors/catalog.ts';
import { classifyCheck, classifyDiagnostic, classifyExecution } from '../../../src/repair/failures/classify-failure.ts';
import { failureKey, normaliseMessage } from '../../../src/repair/failures/failure.ts';
import { isWorthRepair } from '../../../src/repair/failures/watch-calls.ts';

const path = '/plugins/weather.ts';
const diagnostic = (code: ErrorCode, message = 'It is wrong.') => ({
  code,
  message,
  fix: 'Mend it.',
  file: 'weather.ts',
  line: 3,
  column: 1,
});
const execution = (
  error: Partial<ExecutionError> & { code: ErrorCode },
  status: 'error' | 'cancelled' | 'timeout' = 'error',
) => ({
  id: 'exe_1',
  tool: 'weather',
  status,
  error: { message: 'It is wrong.', fix: '', ...error },
});
const answered = (status: number): Pick<Recording, 'crossings'> => ({
  crossings: [{ id: 1, op: 'fetch', payload: '{}', answer: { ok: true, payload: JSON.stringify({ url: 'x', status }) } }],
});

describe('classifyDiagnostic', () => {
  it('knows the class of a plugin that never loaded, with its place', () => {
    const classes = (
      ['compile-failed', 'load-failed', 'manifest-invalid', 'export-missing', 'time-exceeded', 'import-unresolved'] as const
    ).map((code) => classifyDiagnostic(path, diagnostic(code)));
    expect(classes.map((judged) => 'failure' in judged && judged.failure.class)).toEqual([
      'does-not-compile',
      'does-not-load',
      'manifest-invalid',
      'manifest-invalid',
      'does-not-load',
      'does-not-compile',
    ]);
    expect(classes[0]).toMatchObject({ failure: { path, file: 'weather.ts', line: 3, message: 'It is wrong.' } });
  });

  it('asks for what a person has to allow, and leaves what the daemon lacks', () => {
    expect(classifyDiagnostic(path, diagnostic('engine-pending'))).toMatchObject({ nobody: { helps: 'grant' } });
    expect(classifyDiagnostic(path, diagnostic('engine-missing'))).toMatchObject({ nobody: { helps: 'operator' } });
  });
});

describe('classifyExecution', () => {
  it('has a word for every code', () => {
    for (const code of Object.keys(errorCatalog) as ErrorCode[]) {
      const judged = classifyExecution(path, execution({ code }));
      if ('nobody' in judged) expect(judged.nobody.reason, code).toMatch(/^[A-Z].*[.]$/);
      else expect(judged.failure.tool).toBe('weather');
    }
  });

  it.each([
    ['permission-denied', 'grant'],
    ['arguments-invalid', 'caller'],
    ['network-failed', 'wait'],
    ['internal', 'operator'],
    ['cancelled', 'caller'],
    ['interrupted', 'wait'],
  ] as const)('%s is not the fault of the plugin: %s', (code, helps) => {
    expect(classifyExecution(path, execution({ code }))).toMatchObject({ nobody: { helps } });
  });

  it('finds what the world did behind what the plugin threw', () => {
    const threw = execution({ code: 'handler-threw', name: 'TypeError', message: "cannot read property 'sys' of undefined" });
    expect(classifyExecution(path, threw, answered(503))).toMatchObject({
      nobody: { reason: 'A host that the plugin asked answered 503.' },
    });
    expect(classifyExecution(path, threw, answered(404))).toMatchObject({ failure: { class: 'runtime-error' } });
    expect(classifyExecution(path, execution({ code: 'handler-threw', refused: ['net=a.example'] }))).toMatchObject({
      nobody: { helps: 'grant' },
    });
    const refused = {
      crossings: [{ id: 1, op: 'fetch', payload: '', answer: { ok: false, code: 'network-failed', message: '' } as const }],
    };
    expect(classifyExecution(path, threw, refused)).toMatchObject({ nobody: { helps: 'wait' } });
  });

  it('takes a cancelled call for cancelled, whatever it says', () => {
    expect(classifyExecution(path, execution({ code: 'handler-threw' }, 'cancelled'))).toHaveProperty('nobody');
  });
});

describe('failureKey', () => {
  it('is the same for the same failure on another line, with other values', () => {
    const key = (message: string) => failureKey(path, 'runtime-error', 'handler-threw', message);
    expect(key('Line 3: order 17 has no total (and 2 more errors)')).toBe(key('Line 40: order 99181 has no total'));
    expect(key('no user 3f2504e0-4f89-11d3-9a0c-0305e82c3301')).toBe(key('no user 7d444840-9dc0-11d1-b245-5ffdce74fad2'));
    expect(key('GET https://a.example/x?y=1 failed')).toBe(key('GET https://b.example/z failed'));
    expect(key("'total' is not defined")).not.toBe(key("'amount' is not defined"));
    expect(failureKey('/other.ts', 'runtime-error', 'handler-threw', 'x')).not.toBe(
      failureKey(path, 'runtime-error', 'handler-threw', 'x'),
    );
  });

  it('is short work for a long message', () => {
    expect(normaliseMessage(`"${'a '.repeat(1_000_000)}`).length).toBeLessThanOrEqual(400);
  });
});

describe('isWorthRepair', () => {
  const failure = { class: 'runtime-error', key: 'k', message: 'Error: no such city' } as const;
  const [bad, good] = ['k', undefined];

  it('takes a mistake of the program the first time, and what a plugin throws when most calls end so', () => {
    expect(isWorthRepair({ ...failure, message: 'TypeError: not a function' }, [])).toBe(true);
    expect(isWorthRepair({ ...failure, class: 'limit-reached' }, [])).toBe(true);
    expect(isWorthRepair(failure, [bad, bad])).toBe(false);
    expect(isWorthRepair(failure, [bad, bad, bad, good])).toBe(true);
    expect(isWorthRepair(failure, [bad, bad, bad, good, good, good, good])).toBe(false);
    expect(isWorthRepair(failure, [bad, bad, 'other'])).toBe(false);
  });
});

describe('classifyCheck', () => {
  it('is a failure of its own class', () => {
    expect(classifyCheck(path, { tool: 'weather', said: 'expected 1, got 2' })).toMatchObject({
      class: 'check-failed',
      tool: 'weather',
    });
  });
});
