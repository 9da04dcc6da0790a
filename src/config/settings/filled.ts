import type { Static, TObject, TProperties } from 'typebox';
import type { Readable } from '../json-object.ts';

/** Settings once the defaults fill what nobody said: a section has every key; lists and maps are as they were written. */
export type Filled<Value> =
  Value extends ReadonlyArray<infer Item>
    ? readonly Item[]
    : Value extends object
      ? string extends keyof Value
        ? Readable<Value>
        : { readonly [Key in keyof Value]-?: Filled<Value[Key]> }
      : Value;

/** A section of the config by what its schema says. */
export type FilledSection<Properties extends TProperties> = Filled<Static<TObject<Properties>>>;
