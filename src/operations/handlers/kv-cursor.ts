import { HotcellError } from '../../errors/hotcell-error.ts';

/** The place after which the next page begins, as an opaque text. */
export function writeKvCursor({ owner, key }: { readonly owner: string; readonly key: string }): string {
  return Buffer.from(JSON.stringify([owner, key])).toString('base64url');
}

/** Throws `body-invalid` for a text that is no cursor. */
export function readKvCursor(cursor: string): { owner: string; key: string } {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(place) && place.length === 2 && place.every((part) => typeof part === 'string')) {
      const [owner = '', key = ''] = place;
      return { owner, key };
    }
  } catch {
    // Told below, like every other text that no page gave out.
  }
  throw new HotcellError('body-invalid', 'The cursor is none that a page before gave out.');
}
