/** A piece of an address: text that stands there as it is, or a variable. */
type Piece = { readonly text: string } | { readonly variable: string };

/** An address with variables: RFC 6570, level 1. */
export interface UriTemplate {
  readonly variables: readonly string[];
  /** How much of it stands there as it is: of two that match, the more exact one counts. */
  readonly fixedChars: number;
  /** The values of the variables in an address, decoded; undefined where it is none of these. In time linear in its length. */
  match(uri: string): Readonly<Record<string, string>> | undefined;
}

/** The longest address that is looked at. */
export const maxUriChars = 2048;
const maxVariables = 16;
const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const schemeAndRest = /^([a-z][a-z0-9+.-]{0,31}):(.+)$/s;
/** What RFC 3986 lets stand in an address. */
const addressChars = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]*$/;
/** Programs run or open these instead of asking whose they are; `hotcell` is kept for the daemon itself. */
const misreadSchemes: ReadonlySet<string> = new Set([
  'javascript',
  'vbscript',
  'data',
  'blob',
  'about',
  'view-source',
  'hotcell',
]);

/** Why an address cannot be that of a resource; undefined when it can. */
export function findUriFault(uri: string): string | undefined {
  if (uri.length > maxUriChars) return `an address of at most ${maxUriChars} characters`;
  const [, scheme] = schemeAndRest.exec(uri) ?? [];
  if (scheme === undefined) return 'an address with a scheme in lower case, such as "notes://all"';
  if (misreadSchemes.has(scheme)) return `an address with another scheme than "${scheme}:", which programs would misread`;
  return addressChars.test(uri) ? undefined : 'an address without blanks and other characters that must be written as %XX';
}

/** Reads a template; a text where it cannot be one, which says what is expected. */
export function readUriTemplate(template: string): UriTemplate | string {
  if (template.length > maxUriChars) return `a template of at most ${maxUriChars} characters`;
  const pieces: Piece[] = [];
  const variables: string[] = [];
  for (const [at, part] of template.split('{').entries()) {
    const end = part.indexOf('}');
    if (at === 0 ? end >= 0 : end < 0) return 'a template whose braces belong together';
    const variable = at === 0 ? undefined : part.slice(0, end);
    const text = at === 0 ? part : part.slice(end + 1);
    if (text.includes('}')) return 'a template whose braces belong together';
    if (variable !== undefined) {
      if (!variableName.test(variable)) return 'a template of level 1, with variables such as {id} and no operators';
      if (variables.includes(variable)) return `a template that names {${variable}} once`;
      if ('variable' in (pieces.at(-1) ?? {})) return 'a template with text between its variables';
      variables.push(variable);
      pieces.push({ variable });
    }
    if (text !== '') pieces.push({ text });
  }
  const [first] = pieces;
  if (first === undefined || !('text' in first) || !/^[a-z][a-z0-9+.-]*:/.test(first.text)) {
    return 'a template that begins with a scheme, such as "notes://{id}"';
  }
  if (variables.length === 0 || variables.length > maxVariables) return `a template with 1 to ${maxVariables} variables`;
  const fault = findUriFault(template.replaceAll(/[{}]/g, '_'));
  const fixedChars = pieces.reduce((total, piece) => total + ('text' in piece ? piece.text.length : 0), 0);
  return fault ?? { variables, fixedChars, match: (uri: string) => matchPieces(pieces, uri) };
}

/** A variable takes as little as it can, and no `/`, `?` or `#`: these divide an address. */
function matchPieces(pieces: readonly Piece[], uri: string): Readonly<Record<string, string>> | undefined {
  if (uri.length > maxUriChars) return undefined;
  const values: Record<string, string> = {};
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    if ('text' in piece) {
      if (!uri.startsWith(piece.text, at)) return undefined;
      at += piece.text.length;
      continue;
    }
    const end = endOfVariable(uri, at, pieces.slice(index + 1));
    const value = end === undefined ? undefined : decode(uri.slice(at, end));
    if (end === undefined || value === undefined) return undefined;
    values[piece.variable] = value;
    at = end;
  }
  return at === uri.length ? values : undefined;
}

function endOfVariable(uri: string, from: number, [next, ...later]: readonly Piece[]): number | undefined {
  const text = next !== undefined && 'text' in next ? next.text : '';
  const isLast = later.length === 0;
  const end = isLast ? uri.length - text.length : uri.indexOf(text, from + 1);
  if (end <= from || !uri.startsWith(text, end)) return undefined;
  return /[/?#]/.test(uri.slice(from, end)) ? undefined : end;
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
