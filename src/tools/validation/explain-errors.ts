import type { ErrorObject } from 'ajv/dist/2020.js';
import { isObject } from '../../config/json-object.ts';
import { describeValue, preview } from '../../config/schema-faults.ts';
import { findNearNames } from '../../errors/near-names.ts';
import { joinPath, type SchemaIssue, sayPath } from './schema-issue.ts';

const maxIssues = 8;
const maxLooked = 500;

/** Turns what ajv found (with `verbose` and `allErrors`) into at most eight issues; alternatives are folded into one. */
export function explainErrors(errors: readonly ErrorObject[]): SchemaIssue[] {
  const looked = errors.slice(0, maxLooked);
  const issues: SchemaIssue[] = [];
  const folded = new Set<ErrorObject>();
  for (const error of looked) {
    if (error.keyword !== 'anyOf' && error.keyword !== 'oneOf') continue;
    const branches = looked.filter((other) => other !== error && other.schemaPath.startsWith(`${error.schemaPath}/`));
    const deeper = branches.some((other) => other.instancePath.length > error.instancePath.length);
    for (const other of deeper ? [error] : branches) folded.add(other);
  }
  for (const error of looked) {
    if (folded.has(error) || error.keyword === 'if') continue;
    const branches = folded.size === 0 ? [] : looked.filter((other) => other.schemaPath.startsWith(`${error.schemaPath}/`));
    const issue = explainError(error, branches);
    if (!issues.some((other) => other.path === issue.path && other.expected === issue.expected)) issues.push(issue);
    if (issues.length === maxIssues) break;
  }
  return issues;
}

function explainError(error: ErrorObject, branches: readonly ErrorObject[]): SchemaIssue {
  const path = sayPath(error.instancePath);
  const parent = isObject(error.parentSchema) ? error.parentSchema : {};
  switch (error.keyword) {
    case 'required':
    case 'dependentRequired':
      return explainMissing(path, String(error.params.missingProperty), parent, error.data);
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return explainUnexpected(path, error, parent);
    case 'false schema':
      return { path, expected: 'nothing here', got: describeValue(error.data) };
    case 'propertyNames':
      return { path, expected: 'other property names', got: preview(String(error.params.propertyName)) };
    default:
      return { path, expected: sayExpected(error, branches), got: describeValue(error.data) };
  }
}

function explainMissing(path: string, name: string, parent: Record<string, unknown>, data: unknown): SchemaIssue {
  const properties = isObject(parent.properties) ? parent.properties : {};
  const wanted = Object.hasOwn(properties, name) ? properties[name] : undefined;
  const present = isObject(data) ? Object.keys(data).filter((key) => !Object.hasOwn(properties, key)) : [];
  // With names of one or two letters everything is near.
  const near = name.length < 3 ? [] : findNearNames(name, present.slice(0, 50));
  const got = near.length === 0 ? 'nothing' : `${near.map(preview).join(', ')} instead`;
  return {
    path: joinPath(path, name),
    expected: `${sayType(isObject(wanted) ? wanted.type : undefined)} (it is required)`,
    got,
  };
}

function explainUnexpected(path: string, error: ErrorObject, parent: Record<string, unknown>): SchemaIssue {
  const name = String(error.params.additionalProperty ?? error.params.unevaluatedProperty);
  const known = isObject(parent.properties) ? Object.keys(parent.properties) : [];
  const near = findNearNames(name.slice(0, 100), known.slice(0, 200));
  const value = isObject(error.data) ? error.data[name] : undefined;
  const expected =
    known.length === 0 ? 'no such property' : `only ${known.slice(0, 8).join(', ')}${known.length > 8 ? ', ...' : ''}`;
  return { path: joinPath(path, name.slice(0, 100)), expected, got: describeValue(value), ...(near.length > 0 && { near }) };
}

function sayExpected(error: ErrorObject, branches: readonly ErrorObject[]): string {
  const limit = String(error.params.limit ?? '');
  switch (error.keyword) {
    case 'type':
      return sayType(error.schema);
    case 'enum':
      return `one of ${sayValues(Array.isArray(error.schema) ? error.schema : [])}`;
    case 'const':
      return sayValues([error.schema]);
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `a number ${String(error.params.comparison ?? '')} ${limit}`;
    case 'multipleOf':
      return `a multiple of ${String(error.schema)}`;
    case 'hotcellLength':
      return `${sayBounds(error.schema, 'minLength', 'maxLength')} characters`;
    case 'pattern':
      return `text that matches /${String(error.schema).slice(0, 100)}/`;
    case 'format':
      return `text in the format ${String(error.schema)}`;
    case 'minItems':
    case 'maxItems':
      return `${error.keyword === 'minItems' ? 'at least' : 'at most'} ${limit} items`;
    case 'minProperties':
    case 'maxProperties':
      return `${error.keyword === 'minProperties' ? 'at least' : 'at most'} ${limit} properties`;
    case 'hotcellUnique':
      return 'a list without equal items';
    case 'contains':
      return `at least ${String(error.params.minContains ?? 1)} fitting items`;
    case 'not':
      return 'something that the schema does not exclude';
    case 'anyOf':
    case 'oneOf':
      return sayAlternatives(error, branches);
    default:
      return 'a value that fits the schema';
  }
}

function sayAlternatives(error: ErrorObject, branches: readonly ErrorObject[]): string {
  if (Array.isArray(error.params.passingSchemas)) return 'a value that fits only one of the allowed forms';
  const said = new Set(branches.slice(0, 20).map((branch) => sayExpected(branch, [])));
  return said.size === 0 ? 'one of the allowed forms' : [...said].slice(0, 5).join(' or ');
}

function sayBounds(schema: unknown, minName: string, maxName: string): string {
  const bounds = isObject(schema) ? schema : {};
  const [min, max] = [bounds[minName], bounds[maxName]];
  if (min === undefined) return `at most ${String(max)}`;
  return max === undefined ? `at least ${String(min)}` : `${String(min)} to ${String(max)}`;
}

function sayType(type: unknown): string {
  if (Array.isArray(type)) return type.map(sayType).join(' or ');
  if (typeof type !== 'string') return 'a value';
  if (type === 'null') return 'null';
  const named = type === 'array' ? 'list' : type === 'string' ? 'text' : type;
  if (named === 'text') return named;
  return `${/^[aio]/.test(named) ? 'an' : 'a'} ${named}`;
}

function sayValues(values: readonly unknown[]): string {
  const said = values.slice(0, 10).map((value) => (JSON.stringify(value) ?? 'nothing').slice(0, 60));
  return said.join(', ') + (values.length > said.length ? ', ...' : '');
}
