/** A query in the form of RFC 9535 (JSONPath): what each segment selects. */
export interface Segment {
  /** `..`: also from everything below. */
  readonly descendant: boolean;
  readonly selectors: readonly Selector[];
}

export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly start?: number; readonly end?: number; readonly step: number }
  | { readonly kind: 'filter'; readonly test: Expression };

export type ComparisonOperator = '==' | '!=' | '<=' | '>=' | '<' | '>';

/** Inside a filter. A query gives nodes; everything else gives one value. */
export type Expression =
  | { readonly kind: 'or' | 'and'; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'not'; readonly inner: Expression }
  | { readonly kind: 'compare'; readonly operator: ComparisonOperator; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  | { readonly kind: 'query'; readonly from: 'root' | 'current'; readonly segments: readonly Segment[] }
  | { readonly kind: 'call'; readonly name: FunctionName; readonly args: readonly Expression[] };

/** The functions of RFC 9535 and how many arguments each takes. */
export const functionArity = { length: 1, count: 1, value: 1, match: 2, search: 2 } as const;

export type FunctionName = keyof typeof functionArity;
