import Type, { type TSchema } from 'typebox';

/** An integer with its default, its bounds and its meaning. */
export function whole(value: number, minimum: number, maximum: number, description: string) {
  return Type.Optional(Type.Integer({ minimum, maximum, default: value, description }));
}

/** Any number, the same way. */
export function decimal(value: number, minimum: number, maximum: number, description: string) {
  return Type.Optional(Type.Number({ minimum, maximum, default: value, description }));
}

/** Yes or no. */
export function flag(value: boolean, description: string) {
  return Type.Optional(Type.Boolean({ default: value, description }));
}

/** A text; `bounds` say what it must be like. */
export function text(
  value: string,
  description: string,
  bounds: { minLength?: number; maxLength?: number; pattern?: string } = { maxLength: 256 },
) {
  return Type.Optional(Type.String({ ...bounds, default: value, description }));
}

/** One of some words. */
export function choice<Word extends string>(words: readonly Word[], value: NoInfer<Word>, description?: string) {
  return Type.Optional(Type.Enum(words, { default: value, ...(description !== undefined && { description }) }));
}

/** A list of one kind of thing. */
export function list<Item extends TSchema>(item: Item, maxItems: number, value: readonly string[], description: string) {
  return Type.Optional(Type.Array(item, { maxItems, default: [...value], description }));
}

/** A list of names, such as those of images. */
export function names(value: readonly string[], description: string) {
  return list(Type.String({ minLength: 1, maxLength: 256 }), 1000, value, description);
}

/** Whatever people give names to. */
export function named<Value extends TSchema>(value: Value, description: string) {
  return Type.Optional(Type.Record(Type.String(), value, { default: {}, description }));
}

/** Settings that belong together; each has its own default. */
export function section<Properties extends Record<string, TSchema>>(properties: Properties) {
  return Type.Optional(Type.Object(properties, { additionalProperties: false }));
}
