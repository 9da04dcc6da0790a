/** For each global that a guest makes on first use: code that uses it, also through methods that return or need it. */
const usesByGlobal: Readonly<Record<string, RegExp>> = {
  Blob: /\b(?:Blob|File|FormData|blob|formData)\b/,
  Buffer: /\bBuffer\b/,
  Intl: /\bIntl\b|\.(?:toLocale\w+|localeCompare)\b/,
  CryptoKey: /\bsubtle\b/,
  MessageChannel: /\bMessage(?:Channel|Port|Event)\b/,
  process: /\bprocess\b/,
  ReadableStream: /\b\w+Stream\b|\.(?:body|pipeThrough|getReader)\b/,
};

/**
 * The lazy globals that a bundle is likely to use. Reading them once before the image is frozen makes them part of it,
 * so that not every call pays for evaluating them. A wrong guess costs pages or time, never correctness.
 */
export function listLazyGlobals(code: string): string[] {
  return Object.entries(usesByGlobal)
    .filter(([, uses]) => uses.test(code))
    .map(([name]) => name);
}
