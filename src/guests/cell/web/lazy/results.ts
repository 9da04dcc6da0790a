/** The converter of results, for what JSON alone would lose. */
import { createConverter } from '../../convert-result.ts';
import type { Provide } from '../define.ts';

declare const provide: Provide;

const charactersAtOnce = 0x2000;

provide(({ askNow, TextDecoder }) => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const convert = createConverter({
    toBase64(bytes) {
      let text = '';
      for (let at = 0; at < bytes.length; at += charactersAtOnce)
        text += String.fromCharCode(...bytes.subarray(at, at + charactersAtOnce));
      return JSON.parse(String(askNow('base64.write', JSON.stringify(text))));
    },
    readText(bytes) {
      try {
        return decoder.decode(bytes);
      } catch {
        return undefined;
      }
    },
  });
  return { convert };
});
