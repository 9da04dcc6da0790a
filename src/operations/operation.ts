import type { Static, TSchema } from 'typebox';
import type { Caller } from '../tools/tool-types.ts';

/** Who may use an operation. */
export type Role = 'admin' | 'caller' | 'anyone';

/** What an operation knows about the request it serves. */
export interface OperationContext {
  readonly caller: Caller;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
}

/** Where HTTP serves an operation; names in `path` as `:name` and query parameters are properties of the input. */
export interface HttpBinding {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The whole request body becomes this property of the input, as text. */
  readonly textBody?: string;
  /** The result is text and sent as such. */
  readonly textResult?: boolean;
}

/**
 * One thing that the daemon can do. The HTTP routes, the JSON-RPC methods, OpenAPI and most of the CLI come from a
 * table of these. Handlers throw HotcellError; doors format it.
 */
export interface Operation<Input extends TSchema = TSchema, Output extends TSchema = TSchema> {
  /** Such as `plugins.reload`. */
  readonly name: string;
  readonly summary: string;
  readonly role: Role;
  readonly input: Input;
  readonly output: Output;
  readonly http?: HttpBinding;
  /** Runs the operation; `input` was validated against the schema. */
  handle(input: Static<Input>, context: OperationContext): Promise<Static<Output>> | Static<Output>;
}

/** Keeps the types of one operation together while it joins a table of unlike ones. */
export function defineOperation<Input extends TSchema, Output extends TSchema>(operation: Operation<Input, Output>): Operation {
  return operation as unknown as Operation;
}
