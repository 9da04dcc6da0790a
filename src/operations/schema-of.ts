import { type Static, type TObject, type TUnsafe, Type } from 'typebox';
import type { PermissionSet } from '../config/permission-set.ts';
import type { Readable } from './operation.ts';

/** What keeps a schema from being that of a type; `unknown` when nothing does. */
type Drift<Value, Shown> = [Exclude<keyof Value, keyof Shown>] extends [never]
  ? [Exclude<keyof Shown, keyof Value>] extends [never]
    ? Value extends Readable<Shown>
      ? unknown
      : { readonly 'a property has another type in the schema': never }
    : { readonly 'the schema has more than the type': Exclude<keyof Shown, keyof Value> }
  : { readonly 'the schema lacks': Exclude<keyof Value, keyof Shown> };

/**
 * Makes the schema of a type that belongs to a part of the daemon: where the properties of the two differ, it does not compile.
 */
export function schemaOf<Value>(): <Schema extends TObject>(schema: Schema & Drift<Value, Static<Schema>>) => TUnsafe<Value> {
  return (schema) => Type.Unsafe<Value>(schema);
}

/** Permissions, as a plugin writes them; which there are says docs/permissions.md. */
export const permissionSet = Type.Unsafe<PermissionSet>(Type.Object({}));
