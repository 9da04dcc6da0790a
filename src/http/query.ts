import { propertySchemas } from '../operations/invoke.ts';
import type { Operation } from '../operations/operation.ts';

/** Turns the texts of a query string into the types that the schema of an operation asks for. */
export type QueryReader = (query: Readonly<Record<string, unknown>>) => Record<string, unknown>;

type Kind = 'text' | 'number' | 'boolean' | 'list';

/** Looks at the schema once. What cannot be converted stays text, so that the schema's own refusal names it. */
export function createQueryReader(operation: Pick<Operation, 'input'>): QueryReader {
  const kinds = new Map(Object.entries(propertySchemas(operation)).map(([name, schema]) => [name, kindOf(schema)]));
  return (query) => {
    const input: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(query)) {
      Object.defineProperty(input, name, {
        value: convert(value, kinds.get(name) ?? 'text'),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return input;
  };
}

function kindOf(schema: object): Kind {
  const type = 'type' in schema ? schema.type : undefined;
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean') return 'boolean';
  return type === 'array' ? 'list' : 'text';
}

function convert(value: unknown, kind: Kind): unknown {
  if (kind === 'list') return [value].flat().flatMap((item) => (typeof item === 'string' ? item.split(',') : [item]));
  if (typeof value !== 'string') return value;
  if (kind === 'number') return value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
  if (kind === 'boolean') return value === 'true' || value === '1' ? true : value === 'false' || value === '0' ? false : value;
  return value;
}
