import { type TSchema, Type } from 'typebox';

/** The part of an input that asks for one page: `cursor` is the `next` of the page before. */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Items of one page.' })),
  cursor: Type.Optional(Type.String({ maxLength: 512, description: 'The next of the page before.' })),
};

/** What a list answers. */
export function listOf<Item extends TSchema>(item: Item) {
  return Type.Object({
    items: Type.Array(item),
    next: Type.Optional(Type.String({ description: 'Cursor of the next page; absent on the last.' })),
    total: Type.Integer({ minimum: 0, description: 'How many there are on all pages.' }),
  });
}

/** One page of a list. */
export interface Page<Item> {
  items: Item[];
  next?: string;
  total: number;
}

/** A list that is one page. */
export function pageOfAll<Item>(items: readonly Item[]) {
  return { items, total: items.length };
}

const defaultPageSize = 1000;

/** Cuts one page out of a list in memory that is sorted by `keyOf`, ascending; keys are unique. */
export function cutPage<Item>(
  items: readonly Item[],
  query: { readonly limit?: number; readonly cursor?: string },
  keyOf: (item: Item) => string,
): Page<Item> {
  const { cursor, limit = defaultPageSize } = query;
  const rest = cursor === undefined ? items : items.filter((item) => keyOf(item) > cursor);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const isMore = rest.length > page.length && last !== undefined;
  return { items: page, ...(isMore ? { next: keyOf(last) } : {}), total: items.length };
}
