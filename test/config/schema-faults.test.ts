import { describe, expect, it } from 'vitest';
import { toolContracts } from '../../src/operations/contracts/tools.ts';
import { prepareOperations } from '../../src/operations/invoke.ts';
import { implement } from '../../src/operations/operation.ts';

const register = prepareOperations([implement(toolContracts.register, () => Promise.reject(new Error('it was let in')))]).get(
  toolContracts.register.name,
);
const caller = { id: 'local', role: 'admin' } as const;

function sayWrong(handler: unknown): string {
  try {
    register?.invoke({ name: 'a', description: 'x', handler }, { caller, signal: new AbortController().signal });
    return 'nothing';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}

describe('an input with alternatives that is wrong', () => {
  it.each([
    ['of no form', 5, '"handler" must be a string or {"tool": …} or {"url": …}, got the number 5.'],
    ['without what a form needs', { tol: 'x' }, '"handler" must be a string or {"tool": …} or {"url": …}, got an object.'],
    ['in a member of the form that was meant', { url: 5 }, '"handler/url" must be string, got the number 5.'],
    [
      'in a value of the form that was meant',
      { url: 'http://api.example.com/', method: 'DELETED' },
      '"handler/method" must be one of GET, POST, PUT, PATCH, DELETE, got "DELETED". Did you mean "DELETE"?',
    ],
    ['in what the form does not know', { tool: 'weather', args: {} }, '"args" is not known here.'],
  ])('is told of as what it is: %s', (_what, handler, said) => {
    expect(sayWrong(handler)).toBe(`The input of tools.register is not valid: ${said}`);
  });
});
