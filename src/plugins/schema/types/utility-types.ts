import type { TSType } from 'oxc-parser';
import type { ObjectShape, PropertyShape, TypeReader, TypeScope } from './type-scope.ts';

const utilityNames = ['Partial', 'Required', 'Readonly', 'Pick', 'Omit', 'Record', 'NonNullable'] as const;

type UtilityName = (typeof utilityNames)[number];

/** Whether a name is one of TypeScript's utility types that yield an object type. */
export function isUtilityName(name: string): name is UtilityName {
  return utilityNames.some((known) => known === name);
}

/** Reads `Partial<T>`, `Pick<T, K>`, `Record<K, V>` and their like as properties. */
export function shapeOfUtility(
  name: UtilityName,
  given: readonly TSType[],
  scope: TypeScope,
  reader: TypeReader,
): ObjectShape | undefined {
  const [first, second] = given;
  if (!first) return undefined;
  switch (name) {
    case 'Readonly':
    case 'NonNullable':
      return reader.toShape(first, scope);
    case 'Partial':
      return withOptional(reader.toShape(first, scope), true);
    case 'Required':
      return withOptional(reader.toShape(first, scope), false);
    case 'Pick':
    case 'Omit': {
      const keys = second && reader.toLiterals(second, scope);
      const shape = reader.toShape(first, scope);
      if (!keys || !shape) return undefined;
      const isKept = (property: string) => keys.some((key) => String(key) === property) === (name === 'Pick');
      return { ...shape, properties: new Map([...shape.properties].filter(([property]) => isKept(property))) };
    }
    case 'Record':
      return second && shapeOfRecord(first, second, scope, reader);
  }
}

function shapeOfRecord(keyType: TSType, valueType: TSType, scope: TypeScope, reader: TypeReader): ObjectShape | undefined {
  const schema = reader.toSchema(valueType, scope);
  const keys = reader.toLiterals(keyType, scope);
  if (keys)
    return { properties: new Map(keys.map((key): [string, PropertyShape] => [String(key), { schema, optional: false }])) };
  return { properties: new Map(), rest: schema };
}

function withOptional(shape: ObjectShape | undefined, optional: boolean): ObjectShape | undefined {
  if (!shape) return undefined;
  const properties = [...shape.properties].map(([name, { schema }]): [string, PropertyShape] => [name, { schema, optional }]);
  return { ...shape, properties: new Map(properties) };
}
