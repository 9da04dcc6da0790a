import { formatChecks } from '../../config/text-formats.ts';

/** One thing that a form asks for. */
export type FormField = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly isRequired: boolean;
  readonly default?: unknown;
} & FormValue;

/** What may stand in a field. */
export type FormValue =
  | { readonly kind: 'text'; readonly minLength: number; readonly maxLength: number; readonly format?: FormFormat }
  | { readonly kind: 'number'; readonly isWhole: boolean; readonly minimum: number; readonly maximum: number }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly options: readonly FormOption[] }
  | { readonly kind: 'choices'; readonly options: readonly FormOption[]; readonly minItems: number; readonly maxItems: number };

/** A value to choose, and what people read. */
export interface FormOption {
  readonly value: string;
  readonly title: string;
}

/** Formats that texts are checked for. */
export type FormFormat = 'email' | 'uri' | 'date' | 'date-time';

/** What a field expected that got another value; undefined when the value fits. */
export function findFieldFault(field: FormField, value: unknown): string | undefined {
  return fits(field, value) ? undefined : describeField(field);
}

function fits(field: FormField, value: unknown): boolean {
  switch (field.kind) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'number':
      return (
        typeof value === 'number' &&
        Number.isFinite(value) &&
        (!field.isWhole || Number.isInteger(value)) &&
        value >= field.minimum &&
        value <= field.maximum
      );
    case 'text': {
      if (typeof value !== 'string') return false;
      const length = Array.from(value).length;
      const isFormatted = field.format === undefined || formatChecks[field.format]?.(value) === true;
      return length >= field.minLength && length <= field.maxLength && isFormatted;
    }
    case 'choice':
      return field.options.some((option) => option.value === value);
    case 'choices':
      return (
        Array.isArray(value) &&
        value.length >= field.minItems &&
        value.length <= field.maxItems &&
        new Set(value).size === value.length &&
        value.every((each) => field.options.some((option) => option.value === each))
      );
  }
}

/** What a field takes, in words. */
export function describeField(field: FormField): string {
  switch (field.kind) {
    case 'boolean':
      return 'true or false';
    case 'number':
      return `${field.isWhole ? 'a whole number' : 'a number'}${sayBounds(field.minimum, field.maximum)}`;
    case 'text': {
      const what = field.format === undefined ? 'a text' : `a text of the format ${field.format}`;
      const bounds = sayBounds(field.minLength === 0 ? Number.NEGATIVE_INFINITY : field.minLength, field.maxLength);
      return bounds === '' ? what : `${what} with a length${bounds}`;
    }
    case 'choice':
      return `one of ${sayOptions(field.options)}`;
    case 'choices':
      return `a list of ${field.minItems} to ${field.maxItems} of ${sayOptions(field.options)}`;
  }
}

function sayBounds(minimum: number, maximum: number): string {
  if (Number.isFinite(minimum) && Number.isFinite(maximum)) return ` from ${minimum} to ${maximum}`;
  if (Number.isFinite(minimum)) return ` of at least ${minimum}`;
  return Number.isFinite(maximum) ? ` of at most ${maximum}` : '';
}

function sayOptions(options: readonly { readonly value: string }[]): string {
  const shown = options.slice(0, 20).map(({ value }) => JSON.stringify(value.slice(0, 64)));
  return options.length > shown.length ? `${shown.join(', ')} and ${options.length - shown.length} more` : shown.join(', ');
}
