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

/** A property of an object type. */
export interface PropertyShape {
  readonly schema: JsonSchema;
  readonly optional: boolean;
}

/** An object type as its properties; `rest` is what other keys hold. */
export interface ObjectShape {
  readonly properties: ReadonlyMap<string, PropertyShape>;
  readonly rest?: JsonSchema;
}

/** A literal of a type. */
export type LiteralValue = string | number | boolean | null;

/** Reads types; its three readings call each other. */
export interface TypeReader {
  readonly graph: ModuleGraph;
  /** Any type as a schema; what cannot be said becomes `{}` with a warning. */
  toSchema(type: TSType, scope: TypeScope): JsonSchema;
  /** An object type as its properties; undefined when it is none, or cannot be listed. */
  toShape(type: TSType, scope: TypeScope): ObjectShape | undefined;
  /** A type that is nothing but literals, as these; undefined when it is something else. */
  toLiterals(type: TSType, scope: TypeScope): readonly LiteralValue[] | undefined;
  /** Notes a type that was not understood. */
  warn(type: TSType, scope: TypeScope, reason?: string): void;
  /** The same for something that is not a type of its own, given as it is written. */
  warnText(text: string, reason: string): void;
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
