import { isObject } from '../config/json-object.ts';

/** An argument that a client repeats in a header, so that what stands between can read it: `x-mcp-header` of its schema. */
interface MirroredArgument {
  readonly path: readonly string[];
  readonly header: string;
}

const prefix = 'mcp-param-';
const headerName = /^[\w!#$%&'*+.^`|~-]{1,128}$/;
const encoded = /^=\?base64\?(.*)\?=$/s;
const maxDepth = 8;
const mirroredBySchema = new WeakMap<object, readonly MirroredArgument[]>();

/**
 * What is wrong with the headers that mirror arguments of a call, as a sentence; undefined when they say the same. One that a
 * schema does not name, or whose argument is not there, counts for nothing.
 */
export function findHeaderMismatch(schema: object, args: unknown, headers: Headers): string | undefined {
  for (const { path, header } of listMirrored(schema)) {
    const value = path.reduce<unknown>((node, key) => (isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined), args);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
    const sent = headers.get(`${prefix}${header}`);
    const where = `the argument ${path.join('.')}`;
    if (sent === null) return `${where} has no header Mcp-Param-${header}`;
    const said = decode(sent);
    if (said === undefined) return `the header Mcp-Param-${header} cannot be decoded`;
    const isSame = typeof value === 'number' ? said.trim() !== '' && Number(said) === value : said === String(value);
    if (!isSame) return `${where} and the header Mcp-Param-${header} differ`;
  }
  return undefined;
}

function listMirrored(schema: object): readonly MirroredArgument[] {
  const known = mirroredBySchema.get(schema);
  if (known !== undefined) return known;
  const found: MirroredArgument[] = [];
  collect(schema, [], found);
  mirroredBySchema.set(schema, found);
  return found;
}

function collect(schema: unknown, path: readonly string[], found: MirroredArgument[]): void {
  if (!isObject(schema) || path.length > maxDepth) return;
  const header = schema['x-mcp-header'];
  if (path.length > 0 && typeof header === 'string' && headerName.test(header)) found.push({ path, header });
  if (!isObject(schema.properties)) return;
  for (const [key, each] of Object.entries(schema.properties)) collect(each, [...path, key], found);
}

function decode(sent: string): string | undefined {
  const [, base64] = encoded.exec(sent) ?? [];
  if (base64 === undefined) return sent;
  const bytes = Buffer.from(base64, 'base64');
  // What another decoder would read as something else is read as nothing.
  if (bytes.toString('base64') !== base64) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
