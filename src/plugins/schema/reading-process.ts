/**
 * The process that parses plugin sources. The parser is native code: text that overflows its stack or keeps it busy takes
 * this process down, and nothing else. It holds no secret and reads no file of a plugin: texts come as messages.
 */
import { readSchemas } from './read-schemas.ts';
import { emptyReadResult, type ReadRequest, type SchemaReadResult } from './schema-types.ts';

process.on('message', (message) => {
  if (!isReadRequest(message)) return;
  process.send?.({ id: message.id, result: readOrExplain(message.files, message.entry) });
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');

function readOrExplain(files: Parameters<typeof readSchemas>[0], entry: string): SchemaReadResult {
  try {
    return readSchemas(files, entry);
  } catch (error) {
    return emptyReadResult(
      `The types of "${entry}" could not be read: ${error instanceof Error ? error.message : 'unknown reason'}.`,
    );
  }
}

/** Looks for itself: the schemas of the messages would load their whole library, which takes longer than all else in this process. */
function isReadRequest(message: unknown): message is ReadRequest {
  return typeof message === 'object' && message !== null && 'id' in message && 'files' in message && 'entry' in message;
}
