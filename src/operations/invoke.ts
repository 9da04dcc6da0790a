import { Compile } from 'typebox/compile';
import type { Caller } from '../callers/caller.ts';
import { describeFaults, propertyNames, type SchemaFault, unknownNames } from '../config/schema-faults.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Operation, OperationContext, Role } from './operation.ts';

/** An operation that is ready to be asked from outside: role and input are checked before the handler sees anything. */
export interface InvocableOperation {
  readonly operation: Operation;
  /** Throws `forbidden` or `body-invalid`; everything else comes from the handler. */
  invoke(input: unknown, context: OperationContext): unknown;
}

const shownErrors = 5;

/** Compiles the schemas of a table once, by name. */
export function prepareOperations(operations: readonly Operation[]): ReadonlyMap<string, InvocableOperation> {
  return new Map(operations.map((operation) => [operation.name, prepareOperation(operation)]));
}

function prepareOperation(operation: Operation): InvocableOperation {
  const validator = Compile(operation.input);
  return {
    operation,
    invoke(input, context) {
      if (context.caller.isAnonymous && operation.isForAnonymous !== true) throw refuseAnonymous(operation);
      if (!isAllowed(operation.role, context.caller)) throw refuseRole(operation);
      if (!validator.Check(input)) throw refuseInput(operation, input, validator.Errors(input));
      return operation.handle(input, context);
    },
  };
}

/** Tells whether somebody may use operations of a role. */
export function isAllowed(role: Role, caller: Caller): boolean {
  return role !== 'admin' || caller.role === 'admin';
}

function refuseRole(operation: Operation): HotcellError {
  return new HotcellError('forbidden', `${operation.name} needs the role admin; this key has the role caller.`);
}

function refuseAnonymous(operation: Operation): HotcellError {
  return new HotcellError('unauthenticated', `${operation.name} needs a token or key: it is not for requests without one.`);
}

function refuseInput(operation: Operation, input: unknown, faults: readonly SchemaFault[]): HotcellError {
  const sentences = describeFaults(faults, operation.input, input);
  const more = sentences.length > shownErrors ? ` And ${sentences.length - shownErrors} more.` : '';
  const message = `The input of ${operation.name} is not valid: ${sentences.slice(0, shownErrors).join(' ')}${more}`;
  const misplaced = unknownNames(faults.filter(({ instancePath }) => instancePath === ''));
  const fix = adviseReference(misplaced, operation, input) ?? adviseArguments(misplaced, operation, input) ?? adviseText(input);
  return new HotcellError('body-invalid', message, {
    ...(fix === undefined ? {} : { fix }),
    facts: { operation: operation.name, problems: sentences.slice(0, shownErrors) },
  });
}

/** What other tool callers call the tool that is meant. */
const referenceWords: readonly string[] = ['name', 'tool', 'toolName', 'tool_name'];

function adviseReference(misplaced: readonly string[], operation: Operation, input: unknown): string | undefined {
  const word = misplaced.find((each) => referenceWords.includes(each));
  if (word === undefined || !propertyNames(operation.input).includes('ref')) return undefined;
  return typeof input === 'object' && input !== null && 'ref' in input
    ? undefined
    : 'Here the tool is called "ref": {"ref": "weather"}, or {"ref": "weather@1.2.0"}';
}

/** Models hand over arguments as a text. */
function adviseText(input: unknown): string | undefined {
  const given: unknown = Object(input).arguments;
  return typeof given === 'string' ? 'Send the arguments themselves, not their JSON as a text: {"arguments": {…}}' : undefined;
}

/** What other tool callers call the arguments. */
const argumentWords: readonly string[] = ['args', 'input', 'params', 'parameters'];

function adviseArguments([first]: readonly string[], operation: Operation, input: unknown): string | undefined {
  if (first === undefined || !propertyNames(operation.input).includes('arguments')) return undefined;
  if (typeof input === 'object' && input !== null && 'arguments' in input) return undefined;
  if (argumentWords.includes(first)) return `Here it is called "arguments": {"arguments": {…}}`;
  return `Put the arguments of the tool together: {"arguments": {${JSON.stringify(first)}: …}}`;
}

/** The schemas of the properties of an operation's input. */
export function propertySchemas(operation: Pick<Operation, 'input'>): Readonly<Record<string, object>> {
  const { input } = operation;
  if (!('properties' in input) || typeof input.properties !== 'object' || input.properties === null) return {};
  return Object.fromEntries(
    Object.entries(input.properties).filter(([, schema]) => typeof schema === 'object' && schema !== null),
  );
}
