/**
 * Tokens that a text takes at most with the usual tokenizers, roughly: two letters a token, every digit and sign one, a
 * character beyond ASCII two, one beyond the basic plane four. English takes about half of it, so a reservation is given
 * back in part; too low an estimate would let a plugin pass its budget.
 */
export function estimateTokens(text: string): number {
  let halves = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 128) halves += 4;
    else if (isLetter(code)) halves += 1;
    else if (code !== 32) halves += 2;
  }
  return Math.ceil(halves / 2);
}

/** What every message takes beside its text. */
export const messageTokens = 8;

function isLetter(code: number): boolean {
  const lower = code | 32;
  return lower >= 97 && lower <= 122;
}
