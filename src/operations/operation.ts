import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import type { Caller } from '../callers/caller.ts';
import type { ClientAbility } from '../calls/call-types.ts';
import type { Readable } from '../config/json-object.ts';
import type { EventEnvelope } from '../events/event.ts';

/** Who may use an operation. */
export type Role = 'admin' | 'caller';

/** Where an operation tells what happens while it works. Nothing here may throw. */
export interface OperationStream {
  /** It began under this id; told before anything else, and not at all when an earlier execution answers. */
  accepted(executionId: string): void;
  /** What happens in it, in order; the answer comes after the last one. */
  event(event: EventEnvelope): void;
}

/** What an operation knows about the request it serves. */
export interface OperationContext {
  readonly caller: Caller;
  /** Aborts when the client goes away. Doors make it on first use: reading it costs, so read it only when it is needed. */
  readonly signal: AbortSignal;
  /** Aborts when the client asked that its call be cancelled. A client that merely goes away does not cancel. */
  readonly cancelSignal?: AbortSignal | undefined;
  /** What the client can be asked for in the middle of a call; nothing where its door does not say. */
  readonly clientCan?: readonly ClientAbility[] | undefined;
  /** There when the client wants to hear what happens meanwhile, of operations that tell it. */
  readonly stream?: OperationStream | undefined;
}

/** Where HTTP serves an operation; names in `path` as `:name` and query parameters are properties of the input. */
export interface HttpBinding {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The whole request body becomes this property of the input, as text. */
  readonly textBody?: string;
  /** The header If-Match becomes this property of the input. */
  readonly ifMatch?: string;
  /** Only this property of the output is sent, as text. */
  readonly textResult?: string;
  /** This property of the output is sent as the header ETag. */
  readonly etag?: string;
}

/** What everybody may know of an operation: doors, descriptions and the client are generated from it. */
export interface OperationContract<Input extends TSchema = TSchema, Output extends TSchema = TSchema> {
  /** Such as `plugins.reload`. */
  readonly name: string;
  readonly summary: string;
  readonly role: Role;
  /** Requests without a token may use it where the config lets anonymous callers in; they see nothing but what is theirs. */
  readonly isForAnonymous?: true;
  /** A person decides it, or gets a secret by it: no model has it as a tool. */
  readonly isForPeople?: true;
  /** It tells what happens while it works to those who ask for it. */
  readonly streams?: true;
  readonly input: Input;
  readonly output: Output;
  readonly http: HttpBinding;
}

/**
 * One thing that the daemon can do. The HTTP routes, the JSON-RPC methods, OpenAPI and most of the CLI come from a
 * table of these. Handlers throw HotcellError; doors format it.
 */
export interface Operation<Input extends TSchema = TSchema, Output extends TSchema = TSchema>
  extends OperationContract<Input, Output> {
  /** Runs the operation; `input` was validated against the schema. */
  handle(input: Static<Input>, context: OperationContext): Promise<Readable<Static<Output>>> | Readable<Static<Output>>;
}

/** Makes a contract, whose input has the named properties and no others. */
export function defineContract<Properties extends TProperties, Output extends TSchema>(
  contract: Omit<OperationContract<TSchema, Output>, 'input'> & { readonly input: Properties },
): OperationContract<TObject<Properties>, Output> {
  return { ...contract, input: Type.Object(contract.input, { additionalProperties: false }) };
}

/** Gives a contract its handler, so that it can join a table of unlike ones. */
export function implement<Input extends TSchema, Output extends TSchema>(
  contract: OperationContract<Input, Output>,
  handle: Operation<Input, Output>['handle'],
): Operation {
  const operation: Operation<Input, Output> = { ...contract, handle };
  // The door validates the input against the schema of this very operation before it calls the handler.
  return operation as unknown as Operation;
}
