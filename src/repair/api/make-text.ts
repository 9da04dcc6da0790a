import { HotcellError } from '../../errors/hotcell-error.ts';
import type { MakeAnswer, MakeOrder } from './make-plugin.ts';
import { readDocument, refuseApi } from './read-document.ts';
import { type ApiDescription, readOperations } from './read-operations.ts';
import { writePlugin } from './write-plugin.ts';

const maxTextChars = 256 * 1024;

/** Makes the plugin of an API from the text of its description. Pure; as slow as whoever wrote the description likes. */
export function makeText(wish: MakeOrder): MakeAnswer {
  try {
    const api = readOperations(readDocument(wish.text), wish);
    const text = writePlugin(api, wish);
    if (text.length > maxTextChars)
      throw refuseApi(
        `Its plugin would have ${text.length} characters, at most ${maxTextChars} are kept.`,
        'Choose fewer of its operations: --operations A,B',
      );
    return { ok: true, plugin: { text, notes: describeNotes(api) } };
  } catch (error) {
    if (!(error instanceof HotcellError)) throw error;
    return { ok: false, message: error.message, fix: error.fix };
  }
}

function describeNotes({ server, operations, leftOut }: ApiDescription): string[] {
  const host = new URL(server).host;
  const secrets = new Map(operations.flatMap(({ secrets: own }) => own.map((secret) => [secret.name, secret] as const)));
  return [
    ...[...secrets.values()].map(({ name, place, as, form }) => {
      const where = place === 'query' ? `--query ${as}` : `--header ${place === 'cookie' ? 'cookie' : as}`;
      return `It needs ${form === 'basic' ? 'USER:PASSWORD as ' : ''}the secret ${name}: hotcell secret set ${name} --host ${host} ${where}.`;
    }),
    ...leftOut.slice(0, 10).map((each) => `Left out: ${each}.`),
    ...(leftOut.length > 10 ? [`Left out: ${leftOut.length - 10} more.`] : []),
  ];
}
