import { isObject } from '../../../config/json-object.ts';
/**
 * Shapes of what guests send: enough of a schema language for these few requests. Every worker thread loads this file,
 * and a whole schema library took longer to load there than everything else together.
 */
export interface Shape<Value> {
  /** True when the value has this shape. */
  fits(value: unknown): value is Value;
  readonly isOptional?: true;
}

type ValueOf<Any> = Any extends Shape<infer Value> ? Value : never;
type Fields = Readonly<Record<string, Shape<unknown>>>;
type OptionalKeys<Of extends Fields> = { [Key in keyof Of]: Of[Key] extends { isOptional: true } ? Key : never }[keyof Of];
type ObjectOf<Of extends Fields> = { [Key in Exclude<keyof Of, OptionalKeys<Of>>]: ValueOf<Of[Key]> } & {
  [Key in OptionalKeys<Of>]?: ValueOf<Of[Key]>;
};

function shape<Value>(fits: (value: unknown) => boolean): Shape<Value> {
  return { fits: (value): value is Value => fits(value) };
}

/** Builders of shapes. */
export const Shape = {
  String: (options: { maxLength?: number } = {}): Shape<string> =>
    shape((value) => typeof value === 'string' && value.length <= (options.maxLength ?? Number.POSITIVE_INFINITY)),
  Number: (): Shape<number> => shape((value) => typeof value === 'number' && Number.isFinite(value)),
  Integer: (options: { minimum: number }): Shape<number> =>
    shape((value) => Number.isInteger(value) && Number(value) >= options.minimum),
  Boolean: (): Shape<boolean> => shape((value) => typeof value === 'boolean'),
  Null: (): Shape<null> => shape((value) => value === null),
  Literals: <const Names extends readonly string[]>(names: Names): Shape<Names[number]> =>
    shape((value) => typeof value === 'string' && names.includes(value)),
  /** A name of the table's own keys. */
  Keys: <Table extends object>(table: Table): Shape<keyof Table & string> =>
    shape((value) => typeof value === 'string' && Object.hasOwn(table, value)),
  Union: <Shapes extends readonly Shape<unknown>[]>(shapes: Shapes): Shape<ValueOf<Shapes[number]>> =>
    shape((value) => shapes.some((each) => each.fits(value))),
  Array: <Value>(item: Shape<Value>, options: { maxItems: number }): Shape<Value[]> =>
    shape((value) => Array.isArray(value) && value.length <= options.maxItems && value.every((each) => item.fits(each))),
  Pair: <First, Second>(first: Shape<First>, second: Shape<Second>): Shape<[First, Second]> =>
    shape((value) => Array.isArray(value) && value.length === 2 && first.fits(value[0]) && second.fits(value[1])),
  Record: <Value>(key: Shape<string>, item: Shape<Value>, options: { maxProperties: number }): Shape<Record<string, Value>> =>
    shape((value) => {
      if (!isObject(value)) return false;
      const entries = Object.entries(value);
      return entries.length <= options.maxProperties && entries.every(([name, each]) => key.fits(name) && item.fits(each));
    }),
  Optional: <Value>(inner: Shape<Value>): Shape<Value> & { readonly isOptional: true } => ({ ...inner, isOptional: true }),
  Object: <Of extends Fields>(fields: Of): Shape<ObjectOf<Of>> =>
    shape((value) => {
      if (!isObject(value)) return false;
      return Object.entries(fields).every(([name, field]) =>
        Object.hasOwn(value, name) ? field.fits(value[name]) : field.isOptional === true,
      );
    }),
};
