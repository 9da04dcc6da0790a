import { suggestNearNames } from '../errors/near-names.ts';
import { isObject } from './json-object.ts';

/** What a schema says is wrong, where. */
export interface SchemaFault {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** What is wrong with a value, a sentence each, with what was expected and what came; no text is repeated whose length is at fault. */
export function describeFaults(faults: readonly SchemaFault[], schema: object, value: unknown): string[] {
  // Every unknown property is reported twice, once by itself as "schema is false": the named form says more.
  const telling = foldAlternatives(
    faults.filter(({ keyword }) => keyword !== 'boolean'),
    schema,
  );
  return [...new Set(telling.flatMap((fault) => describeFault(fault, propertyNames(schema), value)))];
}

/** The names that stand where the schema has no property of that name. */
export function unknownNames(faults: readonly SchemaFault[]): string[] {
  return faults.flatMap(({ keyword, params }) =>
    keyword === 'additionalProperties' ? textsIn(params, 'additionalProperties') : [],
  );
}

/** The names of the properties that a schema of an object has. */
export function propertyNames(schema: object): string[] {
  return 'properties' in schema ? Object.keys(Object(schema.properties)) : [];
}

function describeFault(fault: SchemaFault, known: readonly string[], value: unknown): string[] {
  const { keyword, instancePath, params, message } = fault;
  if (keyword === 'additionalProperties')
    return unknownNames([fault]).map((name) => `"${name}" is not known here.${suggestNearNames(name, known)}`);
  if (keyword === 'required') return textsIn(params, 'requiredProperties').map((name) => `"${name}" is missing.`);
  const found = instancePath
    .split('/')
    .slice(1)
    .reduce<unknown>((inner, key) => Object(inner)[key], value);
  const place = instancePath === '' ? 'it' : `"${instancePath.slice(1)}"`;
  if (keyword === 'enum') {
    const allowed = textsIn(params, 'allowedValues');
    const isText = typeof found === 'string';
    const got = isText ? `${preview(found)}.${suggestNearNames(found, allowed)}` : `${describeValue(found)}.`;
    return [`${place} must be one of ${allowed.join(', ')}, got ${got}`];
  }
  const isLength = typeof found === 'string' && /Length$/.test(keyword);
  return [`${place} ${message}, got ${isLength ? found.length : describeValue(found)}.`];
}

function textsIn(params: object, key: string): string[] {
  const value: unknown = Object.entries(params).find(([name]) => name === key)?.[1];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string').map((item) => item.slice(0, 64)) : [];
}

/** A bounded preview of a value that says its kind. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return `the text ${preview(value)}`;
  return `the ${typeof value} ${String(value)}`;
}

/** Text in quotes, cut at 60 characters. */
export function preview(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}

/**
 * What is wrong where a value may have one of several forms: of the form that was meant, as far as that can be told by its kind and
 * its members; else one error that names all forms. Otherwise every form would be complained about.
 */
export function foldAlternatives(errors: readonly SchemaFault[], schema: object): SchemaFault[] {
  const union = errors
    .filter(({ keyword }) => keyword === 'anyOf')
    .reduce<SchemaFault | undefined>(
      (outer, each) => (outer === undefined || each.schemaPath.length < outer.schemaPath.length ? each : outer),
      undefined,
    );
  if (union === undefined) return [...errors];
  const { schemaPath, instancePath } = union;
  const prefix = `${schemaPath}/anyOf/`;
  const others = errors.filter((each) => each !== union && !each.schemaPath.startsWith(prefix));
  const forms = readForms(schema, schemaPath);
  const meant = forms
    .map((_, index) => errors.filter((each) => `${each.schemaPath}/`.startsWith(`${prefix}${index}/`)))
    .filter((own) => !own.some((each) => each.instancePath === instancePath && isOfAnotherForm(each)))
    .sort((one, other) => one.length - other.length)
    .at(0);
  const said = meant === undefined ? [{ ...union, message: `must be ${sayForms(forms)}` }] : foldAlternatives(meant, schema);
  return [...said.map(unmark), ...foldAlternatives(others, schema)];
}

function isOfAnotherForm({ keyword }: SchemaFault): boolean {
  return keyword === 'type' || keyword === 'required' || keyword === 'const' || keyword === 'enum';
}

/** A union that was looked at is not looked at again. */
function unmark(error: SchemaFault): SchemaFault {
  return error.keyword === 'anyOf' ? { ...error, keyword: 'form' } : error;
}

function readForms(schema: object, schemaPath: string): readonly unknown[] {
  const found = schemaPath
    .split('/')
    .slice(1)
    .reduce<unknown>((inner, key) => Object(inner)[key], schema);
  return isObject(found) && Array.isArray(found.anyOf) ? found.anyOf : [];
}

function sayForms(forms: readonly unknown[]): string {
  const said = forms.map((form) => {
    if (!isObject(form)) return 'something else';
    const required = Array.isArray(form.required) ? form.required.map((name) => `"${name}": …`) : [];
    if (form.type === 'object') return required.length === 0 ? 'an object' : `{${required.join(', ')}}`;
    if ('const' in form) return JSON.stringify(form.const);
    return typeof form.type === 'string' ? `a ${form.type === 'array' ? 'list' : form.type}` : 'something else';
  });
  return [...new Set(said)].join(' or ') || 'another value';
}
