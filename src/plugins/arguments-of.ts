/** A Standard Schema object (standardschema.dev), of which only the types matter here. */
interface StandardSchema<Output> {
  readonly '~standard': { readonly types?: { readonly output: Output } | undefined };
}

/**
 * The type of a handler's `args` for its `parameters`: what a Standard Schema makes of them, or what a JSON Schema literal
 * describes. Without parameters it is `any`, so that a handler may write its own type.
 */
export type ArgumentsOf<Parameters> = unknown extends Parameters
  ? // biome-ignore lint/suspicious/noExplicitAny: the handler's own annotation takes over
    any
  : Parameters extends StandardSchema<infer Output>
    ? Output
    : FromJsonSchema<Parameters>;

type FromJsonSchema<Schema> = Schema extends { readonly const: infer Constant }
  ? Constant
  : Schema extends { readonly enum: readonly (infer Member)[] }
    ? Member
    : Schema extends { readonly anyOf: readonly (infer Member)[] }
      ? FromJsonSchema<Member>
      : Schema extends { readonly oneOf: readonly (infer Member)[] }
        ? FromJsonSchema<Member>
        : Schema extends { readonly type: infer Name }
          ? FromTypeName<Name, Schema>
          : unknown;

type FromTypeName<Name, Schema> = Name extends readonly (infer Member)[]
  ? FromTypeName<Member, Schema>
  : Name extends 'string'
    ? string
    : Name extends 'number' | 'integer'
      ? number
      : Name extends 'boolean'
        ? boolean
        : Name extends 'null'
          ? null
          : Name extends 'array'
            ? FromArray<Schema>
            : Name extends 'object'
              ? FromObject<Schema>
              : unknown;

type FromArray<Schema> = Schema extends { readonly items: infer Items } ? FromJsonSchema<Items>[] : unknown[];

type FromObject<Schema> = Schema extends { readonly properties: infer Properties }
  ? Flatten<
      { [Key in keyof Properties & RequiredKeys<Schema>]: FromJsonSchema<Properties[Key]> } & {
        [Key in Exclude<keyof Properties, RequiredKeys<Schema>>]?: FromJsonSchema<Properties[Key]>;
      }
    >
  : Record<string, unknown>;

type RequiredKeys<Schema> = Schema extends { readonly required: readonly (infer Key)[] } ? Key : never;

type Flatten<Type> = { [Key in keyof Type]: Type[Key] };
