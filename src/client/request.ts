import type { OperationContract } from '../operations/operation.ts';

/** One operation as a request. */
export interface RequestDescription {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Turns an input into a request, by the same binding that the server reads it with. */
export function describeRequest({ http }: Pick<OperationContract, 'http'>, input: unknown): RequestDescription {
  const rest = new Map<string, unknown>(typeof input === 'object' && input !== null ? Object.entries(input) : []);
  const path = http.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(take(rest, name))));
  const headers: Record<string, string> = {};
  const match = http.ifMatch === undefined ? undefined : take(rest, http.ifMatch);
  if (match !== undefined) headers['if-match'] = `"${String(match)}"`;
  if (http.textBody !== undefined) {
    const body = String(take(rest, http.textBody) ?? '');
    return { method: http.method, path, body, headers: { ...headers, 'content-type': 'text/plain; charset=utf-8' } };
  }
  if (http.method === 'GET' || http.method === 'DELETE')
    return { method: http.method, path: path + describeQuery(rest), headers };
  const body = JSON.stringify(Object.fromEntries(rest));
  return { method: http.method, path, body, headers: { ...headers, 'content-type': 'application/json' } };
}

function take(values: Map<string, unknown>, name: string): unknown {
  const value = values.get(name);
  values.delete(name);
  return value;
}

function describeQuery(values: ReadonlyMap<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of values) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? '' : `?${query}`;
}
