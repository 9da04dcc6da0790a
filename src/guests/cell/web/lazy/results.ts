/** The converter of results, for what JSON alone would lose. */
import { createConverter } from '../../convert-result.ts';
import { btoa, TextDecoder, toBinary } from '../base.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

export const convert = createConverter({
  toBase64: (bytes) => btoa(toBinary(bytes)),
  readText(bytes) {
    try {
      return decoder.decode(bytes);
    } catch {
      return undefined;
    }
  },
});
