import { isObject } from '../config/json-object.ts';

/** What a schema says is wrong, where. */
export interface SchemaError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/**
 * What is wrong where a value may have one of several forms: of the form that was meant, as far as that can be told by its kind and
 * its members; else one error that names all forms. Otherwise every form would be complained about.
 */
export function foldAlternatives(errors: readonly SchemaError[], schema: object): SchemaError[] {
  const union = errors
    .filter(({ keyword }) => keyword === 'anyOf')
    .reduce<SchemaError | undefined>(
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

function isOfAnotherForm({ keyword }: SchemaError): boolean {
  return keyword === 'type' || keyword === 'required' || keyword === 'const' || keyword === 'enum';
}

/** A union that was looked at is not looked at again. */
function unmark(error: SchemaError): SchemaError {
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
