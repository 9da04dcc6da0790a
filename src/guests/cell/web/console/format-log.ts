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
  if (kind === 's') return isTold(value) ? String(value) : inspect(value, { depth: 0 });
  if (kind === 'c') return '';
  if (kind === 'j') return JSON.stringify(value) ?? 'undefined';
  if (kind === 'o' || kind === 'O') return inspect(value, { depth: 4 });
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'symbol') return 'NaN';
  return inspect(
    kind === 'i' ? Number.parseInt(String(value), 10) : kind === 'f' ? Number.parseFloat(String(value)) : Number(value),
  );
}

/** What has a text of its own: no number that would lose its kind, and no object but errors and those with a `toString` of the plugin. */
function isTold(value: unknown): boolean {
  if (typeof value === 'bigint' || Object.is(value, -0)) return false;
  if (typeof value !== 'object' || value === null) return true;
  const tells: unknown = value.toString;
  return typeof tells === 'function' && ![Object, Array, Date, Error].some(({ prototype }) => prototype.toString === tells);
}
