import type { TSType } from 'oxc-parser';
import type { JsonSchema } from '../../../units/tool-manifest.ts';
import type { ModuleGraph } from '../module-graph.ts';
import type { ModuleIndex } from '../module-index.ts';

/** Where a type stands: its module, and what the type parameters around it stand for. */
export interface TypeScope {
  readonly module: ModuleIndex;
  readonly parameters: ReadonlyMap<string, ScopedType>;
}

/** A type and where it stands. */
export interface ScopedType {
  readonly type: TSType;
  readonly scope: TypeScope;
}

/** Reads types as schemas; what is made of another type (its keys, a part of it) is made of the schema of that. */
export interface TypeReader {
  readonly graph: ModuleGraph;
  /** What cannot be said becomes `{}` with a warning. */
  toSchema(type: TSType, scope: TypeScope): JsonSchema;
  /** Notes a type that was not understood, and accepts anything in its place. */
  warn(type: { readonly start: number; readonly end: number }, scope: TypeScope, reason?: string): JsonSchema;
  /** Runs `read` unless `key` is being read already further out, as in a type that refers to itself. */
  guarded<Result>(key: object, read: () => Result): Result | undefined;
}

/** The arguments of a generic type, bound to its parameters. */
export function bindParameters(
  declared: ReadonlyArray<{ readonly name: { readonly name: string }; readonly default: TSType | null }>,
  given: readonly TSType[],
  use: TypeScope,
  declaration: ModuleIndex,
): TypeScope {
  const parameters = new Map<string, ScopedType>();
  const scope: TypeScope = { module: declaration, parameters };
  for (const [position, parameter] of declared.entries()) {
    const type = given[position];
    if (type) parameters.set(parameter.name.name, { type, scope: use });
    else if (parameter.default) parameters.set(parameter.name.name, { type: parameter.default, scope });
  }
  return scope;
}
