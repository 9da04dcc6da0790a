import { parseDocument } from 'yaml';
import { isObject } from '../../config/json-object.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { maxDescriptionBytes } from '../repair.ts';

/** Uses of anchors that are followed: each copies what it stands for. */
const maxAliases = 100;

/** Reads an OpenAPI 3.0 or 3.1 description, JSON or YAML. Throws `api-description-invalid`. */
export function readDocument(text: string): Record<string, unknown> {
  if (text.length > maxDescriptionBytes) throw refuseApi(`It has more than ${maxDescriptionBytes} characters.`);
  const document = parse(text);
  if (!isObject(document)) throw refuseApi('It is no object.');
  if (document.swagger !== undefined) {
    throw refuseApi(
      `It is Swagger ${String(document.swagger).slice(0, 10)}.`,
      'Convert it to OpenAPI 3: npx -y swagger2openapi FILE --outfile api.json, then: hotcell plugin new NAME --from api.json',
    );
  }
  const version = String(document.openapi ?? '');
  if (!/^3\.[01](?:\.|$)/.test(version))
    throw refuseApi(
      version === ''
        ? 'It is no OpenAPI: there is no line that begins as "openapi: 3.1.0" does.'
        : `It is OpenAPI ${version.slice(0, 20)}.`,
    );
  if (!isObject(document.paths)) throw refuseApi('It has no paths.');
  return document;
}

function parse(text: string): unknown {
  try {
    if (/^\s*\{/.test(text)) return JSON.parse(text);
    const document = parseDocument(text, { version: '1.2', schema: 'core', merge: false, logLevel: 'silent' });
    const [fault] = document.errors;
    if (fault !== undefined) throw fault;
    return document.toJS({ maxAliasCount: maxAliases });
  } catch (error) {
    throw refuseApi(`It cannot be read: ${error instanceof Error ? error.message.slice(0, 300) : 'it is broken.'}`);
  }
}

/** Says what of a description is not taken. */
export function refuseApi(reason: string, fix?: string): HotcellError {
  return new HotcellError('api-description-invalid', reason, { fix });
}
