import { isObject } from '../../config/json-object.ts';
import type { References } from './references.ts';

/** A secret of the operator that an operation is asked with. */
export interface ApiSecret {
  /** Under which the operator keeps it. */
  readonly name: string;
  readonly place: 'header' | 'query' | 'cookie';
  /** The header, parameter or cookie. */
  readonly as: string;
  readonly form: 'plain' | 'bearer' | 'basic';
}

const fieldName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;

/**
 * What an operation is asked with: the first of its alternatives that can be kept as secrets; nothing where one of them is nothing.
 * Answers a sentence where none can.
 */
export function readSecurity(
  document: Record<string, unknown>,
  operation: Record<string, unknown>,
  references: References,
  plugin: string,
): readonly ApiSecret[] | string {
  const wanted = operation.security ?? document.security;
  const alternatives = Array.isArray(wanted) ? wanted.filter(isObject) : [];
  if (alternatives.length === 0 || alternatives.some((each) => Object.keys(each).length === 0)) return [];
  const schemes = isObject(document.components) ? references.follow(document.components.securitySchemes) : undefined;
  for (const alternative of alternatives) {
    const secrets = Object.keys(alternative).map((name) =>
      schemes !== undefined && Object.hasOwn(schemes, name)
        ? readScheme(references.follow(schemes[name]), nameSecret(plugin, name))
        : undefined,
    );
    const known = secrets.filter((secret) => secret !== undefined);
    if (known.length === secrets.length) return known;
  }
  return 'it is asked with a key of a kind that is not supported';
}

/** OAuth 2 and OpenID Connect end in a token that is sent as a bearer's. */
function readScheme(scheme: Record<string, unknown> | undefined, name: string): ApiSecret | undefined {
  const { type, in: place, name: as, scheme: http } = scheme ?? {};
  if (type === 'apiKey' && typeof as === 'string' && fieldName.test(as)) {
    if (place !== 'header' && place !== 'query' && place !== 'cookie') return undefined;
    return { name, place, as, form: 'plain' };
  }
  const kind = String(http).toLowerCase();
  const form = type === 'http' && kind === 'basic' ? 'basic' : 'bearer';
  const isKnown = type === 'oauth2' || type === 'openIdConnect' || (type === 'http' && (kind === 'basic' || kind === 'bearer'));
  return isKnown ? { name, place: 'header', as: 'authorization', form } : undefined;
}

function nameSecret(plugin: string, scheme: string): string {
  const words = `${plugin}_${scheme}`.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toUpperCase();
  return words
    .replaceAll(/[^A-Z\d]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 64);
}
