import { isObject } from '../../config/json-object.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { cleanUntrustedText } from '../untrusted-text.ts';
import { type FormField, type FormFormat, type FormOption, type FormValue, findFieldFault } from './form-field.ts';

/** A form that was checked: its fields, and its schema with the words that people read cleaned. */
export interface Form {
  readonly fields: readonly FormField[];
  readonly schema: Readonly<Record<string, unknown>>;
}

const maxSchemaBytes = 16 * 1024;
const maxFields = 32;
const maxOptions = 256;
const maxWords = 1000;
const fieldName = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;
const formats: readonly FormFormat[] = ['email', 'uri', 'date', 'date-time'];
const words = ['type', 'title', 'description', 'default'];
const keysByType: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['boolean', []],
  ['number', ['minimum', 'maximum']],
  ['integer', ['minimum', 'maximum']],
  ['string', ['minLength', 'maxLength', 'format', 'enum', 'enumNames', 'oneOf']],
  ['array', ['items', 'minItems', 'maxItems']],
]);

/**
 * Reads the schema of a form: JSON Schema of a flat object, whose properties are texts, numbers, yes or no, and choices (what MCP
 * calls elicitation). Throws `arguments-invalid`.
 */
export function readForm(schema: unknown): Form {
  if (!isObject(schema)) throw refuse('its schema', 'an object { type: "object", properties: { … } }');
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > maxSchemaBytes) throw refuse('its schema', `at most ${maxSchemaBytes} bytes of JSON, and has ${bytes}`);
  const { type, properties, required = [] } = schema;
  requireKeys(schema, 'its schema', [
    '$schema',
    'type',
    'title',
    'description',
    'properties',
    'required',
    'additionalProperties',
  ]);
  if (type !== 'object' || !isObject(properties)) throw refuse('its schema', '{ type: "object", properties: { … } }');
  const names = Object.keys(properties);
  if (names.length > maxFields) throw refuse('its schema', `at most ${maxFields} properties, and has ${names.length}`);
  if (!isTexts(required) || required.some((name) => !names.includes(name))) {
    throw refuse('its "required"', 'a list of names that stand in "properties"');
  }
  const fields = names.map((name) => readField(name, properties[name], required.includes(name)));
  const cleaned = Object.fromEntries(names.map((name) => [name, cleanWords(properties[name])]));
  return { fields, schema: { type: 'object', properties: cleaned, ...(required.length > 0 && { required }) } };
}

function readField(name: string, property: unknown, isRequired: boolean): FormField {
  const place = `"${name.slice(0, 80)}"`;
  if (!fieldName.test(name)) throw refuse(place, 'named with 1 to 64 letters, digits, "_", "." or "-"');
  if (!isObject(property)) throw refuse(place, 'an object such as { type: "string", title: "…" }');
  const { title, description } = property;
  const field: FormField = {
    name,
    ...(typeof title === 'string' && { title: cleanUntrustedText(title, maxWords) }),
    ...(typeof description === 'string' && { description: cleanUntrustedText(description, maxWords) }),
    isRequired,
    ...('default' in property && { default: property.default }),
    ...readValue(property, place),
  };
  const expected = 'default' in property ? findFieldFault(field, property.default) : undefined;
  if (expected !== undefined) throw refuse(`the default of ${place}`, expected);
  return field;
}

function readValue(property: Readonly<Record<string, unknown>>, place: string): FormValue {
  const { type } = property;
  const own = keysByType.get(type);
  if (own === undefined) throw refuse(place, 'of type "string", "number", "integer", "boolean" or "array" (of choices)');
  requireKeys(property, place, [...words, ...own]);
  if (type === 'boolean') return { kind: 'boolean' };
  if (type === 'number' || type === 'integer') {
    const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = property;
    if (typeof minimum !== 'number' || typeof maximum !== 'number') throw refuse(place, 'bounded by numbers');
    return { kind: 'number', isWhole: type === 'integer', minimum, maximum };
  }
  if (type === 'array') return readChoices(property, place);
  const choices = readOptions(property, place);
  if (choices !== undefined) return { kind: 'choice', options: choices };
  const { format } = property;
  const known = formats.find((each) => each === format);
  if (format !== undefined && known === undefined) throw refuse(place, `of the format ${formats.join(', ')}, or of none`);
  return {
    kind: 'text',
    minLength: readCount(property, 'minLength', place) ?? 0,
    maxLength: readCount(property, 'maxLength', place) ?? Number.POSITIVE_INFINITY,
    ...(known !== undefined && { format: known }),
  };
}

function readChoices(property: Readonly<Record<string, unknown>>, place: string): FormValue {
  const options = isObject(property.items) ? readOptions(property.items, place) : undefined;
  if (options === undefined) throw refuse(place, 'a list of choices: { type: "array", items: { enum: [ … ] } }');
  const minItems = readCount(property, 'minItems', place) ?? 0;
  const maxItems = readCount(property, 'maxItems', place) ?? options.length;
  return { kind: 'choices', options, minItems, maxItems };
}

/** `enum`, with `enumNames` or without, or a list of `{ const, title }`; undefined when there are no choices. */
function readOptions(holder: Readonly<Record<string, unknown>>, place: string): readonly FormOption[] | undefined {
  const { enum: values, enumNames, oneOf, anyOf } = holder;
  const titled = oneOf ?? anyOf;
  if (values === undefined && titled === undefined) return undefined;
  const options = Array.isArray(titled) ? titled.flatMap(readOption) : isTexts(values) ? values.map(withTitle(enumNames)) : [];
  const given = Array.isArray(titled) ? titled : values;
  const isRead = Array.isArray(given) && given.length === options.length;
  if (isRead && options.length > 0 && options.length <= maxOptions) return options;
  throw refuse(place, `a choice of 1 to ${maxOptions} texts: enum: [ … ], or oneOf: [{ const, title }, … ]`);
}

function readOption(option: unknown): FormOption[] {
  if (!isObject(option) || typeof option.const !== 'string') return [];
  const { const: value, title } = option;
  return [{ value, title: cleanUntrustedText(typeof title === 'string' ? title : value, maxWords) }];
}

function withTitle(names: unknown) {
  const titles = isTexts(names) ? names : [];
  return (value: string, at: number): FormOption => ({ value, title: cleanUntrustedText(titles[at] ?? value, maxWords) });
}

function readCount(property: Readonly<Record<string, unknown>>, key: string, place: string): number | undefined {
  const value = property[key];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw refuse(place, `with a whole number as "${key}"`);
}

function requireKeys(holder: Readonly<Record<string, unknown>>, place: string, known: readonly string[]): void {
  const unknown = Object.keys(holder).find((key) => !known.includes(key));
  if (unknown !== undefined) throw refuse(place, `without "${unknown.slice(0, 80)}", which no form has`);
}

/** What people read of a property, as it may be shown; what programs read stays. */
function cleanWords(property: unknown): unknown {
  if (Array.isArray(property)) return property.map(cleanWords);
  if (!isObject(property)) return property;
  const clean = (key: string, value: unknown): unknown => {
    if (key === 'title' || key === 'description') return typeof value === 'string' ? cleanUntrustedText(value, maxWords) : '';
    if (key === 'enumNames' && isTexts(value)) return value.map((each) => cleanUntrustedText(each, maxWords));
    return cleanWords(value);
  };
  return Object.fromEntries(Object.entries(property).map(([key, value]) => [key, clean(key, value)]));
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function refuse(place: string, expected: string): HotcellError {
  return new HotcellError('arguments-invalid', `The form of context.ask is not usable: ${place} must be ${expected}.`, {
    fix: 'See hotcell docs plugin-format for what a form may ask.',
  });
}
