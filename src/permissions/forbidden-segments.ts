const forbidden = new Set(['.env', '.git', '.ssh', '.hotcell', '.codex', 'secrets']);

/** The names that no path may hold, for messages. */
export const forbiddenSegments: readonly string[] = [...forbidden];

/**
 * True for a name that holds secrets or history by convention, whatever grant there is: any case, also `.env.local`.
 * File systems that fold case, ignore invisible characters or drop trailing dots must not see through the spelling.
 */
export function isForbiddenSegment(segment: string): boolean {
  const folded = segment
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toUpperCase()
    .toLowerCase();
  const [base = ''] = folded.split(':');
  const name = base.replace(/[. ]+$/, '');
  return forbidden.has(name) || name.startsWith('.env.');
}
