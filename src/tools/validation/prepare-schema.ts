import { isObject } from '../../config/json-object.ts';
import { formatChecks } from '../../config/text-formats.ts';
import { modernizeKeywords } from './draft-07.ts';
import { compileLinearPattern } from './linear-pattern.ts';
import { applicators, assertions, unsupportedKeywords } from './schema-keywords.ts';

/** A schema of our own making: only known keywords, every reference local, fuel where work repeats. */
export interface PreparedSchema {
  readonly schema: Readonly<Record<string, unknown>>;
  /** What was left out because it cannot be checked, whole sentences. */
  readonly warnings: readonly string[];
}

interface Rewritten {
  readonly schema: Record<string, unknown> | boolean;
  /** How many keywords and values one visit looks at, up to the next place that burns fuel by itself. */
  readonly weight: number;
}

/** A schema of this size takes about 100 ms to compile, once, on the first call. */
const maxNodes = 1500;
const nodesPerValue = 0.25;
const nodesPerUnevaluated = 20;
const maxDepth = 64;
const maxWarnings = 20;

/** True when a schema may be compiled on the main thread: not too many subschemas or values, not nested too deeply. */
export function isBoundedSchema(schema: unknown): boolean {
  return prepareSchema(schema) !== undefined;
}

/**
 * Rewrites a plugin's schema (2020-12, draft-07 tolerated) into one that is safe to compile, or returns undefined when it
 * is too large. Patterns that RE2 cannot express, unknown formats, references that lead nowhere and keywords of the wrong
 * shape are left out with a warning: what cannot be checked is accepted.
 */
export function prepareSchema(source: unknown): PreparedSchema | undefined {
  try {
    return new SchemaWriter(source).write();
  } catch (error) {
    if (error instanceof SchemaTooLarge) return undefined;
    throw error;
  }
}

class SchemaTooLarge extends Error {}

class SchemaWriter {
  readonly #root: unknown;
  readonly #warnings: string[] = [];
  readonly #names = new Map<object, string>();
  readonly #definitions: Record<string, unknown> = {};
  #nodes = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  write(): PreparedSchema {
    const { schema, weight } = this.#rewrite(this.#root, '', 0);
    const root = typeof schema === 'boolean' ? { allOf: [schema] } : schema;
    // References to "#" make the whole schema a place that repeats.
    if (this.#names.size > 0) Object.assign(root, { $defs: this.#definitions, hotcellFuel: weight });
    return { schema: root, warnings: this.#warnings };
  }

  #rewrite(source: unknown, path: string, depth: number): Rewritten {
    this.#count(1, depth);
    if (typeof source === 'boolean') return { schema: source, weight: 1 };
    if (!isObject(source)) {
      this.#warn(path, 'a schema must be an object or a boolean');
      return { schema: true, weight: 1 };
    }
    const modern = modernizeKeywords(source);
    const schema: Record<string, unknown> = {};
    let weight = 1;
    for (const [keyword, value] of Object.entries(modern)) {
      if (value === undefined) continue;
      const at = `${path}/${keyword}`;
      if (keyword === '$ref') weight += this.#writeReference(schema, value, at, depth);
      else if (applicators.has(keyword)) weight += this.#writeApplicator(schema, keyword, value, at, depth);
      else if (Object.hasOwn(assertions, keyword)) weight += this.#writeAssertion(schema, keyword, value, at);
      else if (unsupportedKeywords.has(keyword) || (keyword === '$id' && depth > 0)) this.#warn(at, 'it is not supported');
    }
    addKeyFuel(schema);
    return { schema, weight };
  }

  #writeReference(schema: Record<string, unknown>, reference: unknown, at: string, depth: number): number {
    const target = typeof reference === 'string' ? findLocal(this.#root, reference) : undefined;
    if (target === undefined) {
      this.#warn(at, `the reference ${JSON.stringify(reference)} leads nowhere in this schema`);
      return 0;
    }
    if (!isObject(target)) {
      Object.assign(schema, { allOf: [target] });
      return 1;
    }
    schema.$ref = `#/$defs/${this.#nameOf(target, at, depth)}`;
    return 1;
  }

  /** Everything that is referred to moves to `$defs` under a name of ours and burns fuel on every visit. */
  #nameOf(target: Record<string, unknown>, at: string, depth: number): string {
    const known = this.#names.get(target);
    if (known !== undefined) return known;
    const name = `r${this.#names.size}`;
    this.#names.set(target, name);
    this.#definitions[name] = withFuel(this.#rewrite(target, at, depth + 1));
    return name;
  }

  #writeApplicator(schema: Record<string, unknown>, keyword: string, value: unknown, at: string, depth: number): number {
    const applicator = applicators.get(keyword);
    if (applicator === undefined) return 0;
    if (keyword.startsWith('unevaluated')) this.#count(nodesPerUnevaluated, depth);
    const write = (child: unknown, childPath: string): { schema: unknown; weight: number } => {
      const rewritten = this.#rewrite(child, childPath, depth + 1);
      return applicator.repeats ? { schema: withFuel(rewritten), weight: 1 } : rewritten;
    };
    let weight = 0;
    if (applicator.holds === 'schema') {
      const child = write(value, at);
      schema[keyword] = child.schema;
      weight = child.weight;
    } else if (applicator.holds === 'list' && Array.isArray(value) && value.length > 0) {
      schema[keyword] = value.map((item: unknown, index) => {
        const child = write(item, `${at}/${index}`);
        weight += child.weight;
        return child.schema;
      });
    } else if (applicator.holds === 'map' && isObject(value)) {
      const entries = Object.entries(value).filter(([key]) => keyword !== 'patternProperties' || this.#isLinear(key, at));
      schema[keyword] = Object.fromEntries(
        entries.map(([key, item]) => {
          const child = write(item, `${at}/${key}`);
          weight += child.weight;
          return [key, child.schema];
        }),
      );
      // Keys that a left-out pattern would have allowed must not be refused as additional.
      if (entries.length < Object.keys(value).length) schema.hotcellOpen = true;
    } else this.#warn(at, 'it has the wrong shape, so models are not told of it either');
    return weight;
  }

  #writeAssertion(schema: Record<string, unknown>, keyword: string, value: unknown, at: string): number {
    if (assertions[keyword]?.(value) !== true) {
      this.#warn(at, 'it has the wrong shape, so models are not told of it either');
      return 0;
    }
    if (keyword === 'pattern' && !this.#isLinear(String(value), at)) return 0;
    if (keyword === 'format' && !Object.hasOwn(formatChecks, String(value))) return 0;
    if (keyword === 'uniqueItems') {
      if (value === true) schema.hotcellUnique = true;
    } else if (keyword === 'minLength' || keyword === 'maxLength') {
      const bounds = isObject(schema.hotcellLength) ? schema.hotcellLength : {};
      schema.hotcellLength = { ...bounds, [keyword]: value };
    } else schema[keyword] = value;
    return this.#countValues(value, 0);
  }

  #isLinear(pattern: string, at: string): boolean {
    try {
      compileLinearPattern(pattern);
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown';
      this.#warn(at, `the pattern /${pattern.slice(0, 80)}/ cannot be matched in linear time (${reason.slice(0, 120)})`);
      return false;
    }
  }

  #countValues(value: unknown, depth: number): number {
    this.#count(nodesPerValue, depth);
    let count = 1;
    if (typeof value === 'object' && value !== null) {
      for (const item of Object.values(value)) count += this.#countValues(item, depth + 1);
    }
    return count;
  }

  #count(nodes: number, depth: number): void {
    this.#nodes += nodes;
    if (this.#nodes > maxNodes || depth > maxDepth) throw new SchemaTooLarge('schema is too large');
  }

  #warn(at: string, reason: string): void {
    if (this.#warnings.length >= maxWarnings) return;
    this.#warnings.push(`The schema keyword ${at === '' ? '(root)' : at} is not checked: ${reason}.`);
  }
}

function withFuel(rewritten: Rewritten): Record<string, unknown> | boolean {
  const { schema, weight } = rewritten;
  return typeof schema === 'boolean' ? schema : Object.assign(schema, { hotcellFuel: weight });
}

/** Keywords that walk over all keys of an object burn fuel for every key, and a left-out pattern opens the object. */
function addKeyFuel(schema: Record<string, unknown>): void {
  if (schema.hotcellOpen === true) {
    for (const keyword of ['hotcellOpen', 'additionalProperties', 'unevaluatedProperties']) delete schema[keyword];
  }
  const walks = ['additionalProperties', 'unevaluatedProperties', 'propertyNames', 'patternProperties'];
  const counts = ['minProperties', 'maxProperties'];
  if (![...walks, ...counts].some((keyword) => Object.hasOwn(schema, keyword))) return;
  const patterns = isObject(schema.patternProperties) ? Object.keys(schema.patternProperties).length : 0;
  const names = isObject(schema.properties) ? Math.min(8, Object.keys(schema.properties).length) : 0;
  schema.hotcellKeys = 8 + patterns + names;
}

/** Follows `#` and `#/a/b`; anything else, and anything that is not there, is undefined. */
export function findLocal(root: unknown, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let found: unknown = root;
  for (const step of reference.slice(2).split('/')) {
    const key = decodeStep(step);
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
}
