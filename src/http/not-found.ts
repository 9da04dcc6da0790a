import { HotcellError } from '../errors/hotcell-error.ts';
import { findNearNames } from '../errors/near-names.ts';

/** One route that is served. */
export interface KnownRoute {
  readonly method: string;
  /** Such as `/api/tools/:ref`. */
  readonly path: string;
}

/** The refusal of a request that no route serves: another method, or no such path, with near ones. */
export function refuseUnknownRoute(method: string, url: string, routes: readonly KnownRoute[]): HotcellError {
  const path = url.split('?', 1)[0] ?? '';
  const methods = routes.filter((route) => fitsPath(route.path, path)).map((route) => route.method);
  const shown = path.slice(0, 128);
  if (methods.length > 0) {
    const message = `${shown} answers ${[...new Set(methods)].join(', ')}, but not ${method}.`;
    return new HotcellError('method-not-allowed', message, { facts: { allow: [...new Set(methods)] } });
  }
  const near = findNearNames(shown, new Set(routes.map((route) => route.path)));
  const hint = near.length > 0 ? ` Near: ${near.join(', ')}.` : '';
  const fix = isModelPath(path) ? { fix: 'What clients of models find here: hotcell docs gateway.' } : {};
  return new HotcellError('not-found', `Nothing is served at ${shown}.${hint}`, { facts: { near }, ...fix });
}

/** Whether a client of models asks there, which reads failures in its own format. */
export function isModelPath(url: string): boolean {
  return /^\/v1(?:beta)?\//.test(url);
}

function fitsPath(template: string, path: string): boolean {
  const wanted = template.split('/');
  const parts = path.split('/');
  return wanted.length === parts.length && wanted.every((part, index) => part.startsWith(':') || part === parts[index]);
}
