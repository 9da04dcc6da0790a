import { isObject } from '../../config/json-object.ts';
import { findLocal } from './prepare-schema.ts';

/** Puts the defaults of a schema where a value has nothing; returns the same value when nothing was missing. */
export type FillDefaults = (value: unknown) => unknown;

/** References may lead in circles: a default that needs its own schema again ends here. */
const maxDepth = 32;
const maxFilled = 1000;

/**
 * What fills in the defaults of a schema; undefined when it has none. Followed are `properties`, `items`, `prefixItems`,
 * `allOf` and references into the schema: what holds in any case. Of alternatives nobody knows which one is meant.
 */
export function createDefaultFiller(schema: unknown): FillDefaults | undefined {
  if (!JSON.stringify(schema ?? null).includes('"default":')) return undefined;
  return (value) => new Filling(schema).fill(schema, value, 0);
}

class Filling {
  readonly #root: unknown;
  #left = maxFilled;

  constructor(root: unknown) {
    this.#root = root;
  }

  fill(schema: unknown, value: unknown, depth: number): unknown {
    if (!isObject(schema) || depth > maxDepth) return value;
    let filled = value;
    if (typeof schema.$ref === 'string') filled = this.fill(findLocal(this.#root, schema.$ref), filled, depth + 1);
    if (Array.isArray(schema.allOf)) for (const part of schema.allOf) filled = this.fill(part, filled, depth + 1);
    if (Array.isArray(filled)) return this.#fillItems(schema, filled, depth);
    return isObject(filled) && isObject(schema.properties) ? this.#fillMembers(schema.properties, filled, depth) : filled;
  }

  #fillItems(schema: Readonly<Record<string, unknown>>, items: readonly unknown[], depth: number): unknown {
    const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
    const filled = items.map((item, index) => this.fill(index < first.length ? first[index] : schema.items, item, depth + 1));
    return filled.some((item, index) => item !== items[index]) ? filled : items;
  }

  #fillMembers(properties: object, value: Readonly<Record<string, unknown>>, depth: number): unknown {
    let copy: Record<string, unknown> | undefined;
    for (const [name, member] of Object.entries(properties)) {
      const present = Object.hasOwn(value, name) ? value[name] : undefined;
      const initial = present === undefined ? this.#defaultOf(member) : present;
      const filled = initial === undefined ? undefined : this.fill(member, initial, depth + 1);
      if (filled === present) continue;
      copy ??= { ...value };
      Object.defineProperty(copy, name, { value: filled, enumerable: true, configurable: true, writable: true });
    }
    return copy ?? value;
  }

  /** Every use is a copy: what a default is belongs to the schema. */
  #defaultOf(schema: unknown): unknown {
    const owner =
      isObject(schema) && schema.default === undefined && typeof schema.$ref === 'string'
        ? findLocal(this.#root, schema.$ref)
        : schema;
    if (!isObject(owner) || owner.default === undefined || this.#left-- <= 0) return undefined;
    return structuredClone(owner.default);
  }
}
