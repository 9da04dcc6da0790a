import { inspect } from './inspect.ts';

/** Values as one line of text, with the `%s %d %i %f %j %o %O %c %%` of the console standard. */
export function formatLog(values: readonly unknown[]): string {
  const rest = [...values];
  const first = rest[0];
  const parts: string[] = [];
  if (typeof first === 'string' && first.includes('%') && rest.length > 1) {
    rest.shift();
    parts.push(
      first.replace(/%([sdifjoOc%])/g, (whole, kind) =>
        kind === '%' ? '%' : rest.length > 0 ? format(kind, rest.shift()) : whole,
      ),
    );
  }
  for (const value of rest) parts.push(typeof value === 'string' ? value : inspect(value));
  return parts.join(' ');
}

function format(kind: string, value: unknown): string {
  if (kind === 's') return typeof value === 'object' && value !== null ? inspect(value, { depth: 0 }) : String(value);
  if (kind === 'c') return '';
  if (kind === 'j') return JSON.stringify(value) ?? 'undefined';
  if (kind === 'o' || kind === 'O') return inspect(value, { depth: 4 });
  const number = typeof value === 'object' || typeof value === 'symbol' ? Number.NaN : Number(value);
  return String(kind === 'i' ? Math.trunc(number) : number);
}
