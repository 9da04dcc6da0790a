/**
 * Parts of the web API whose text stays with the host until a guest first touches one of their globals. Each file calls
 * `provide` with a function that makes its exports from the shared base parts.
 */
export const lazyModuleFiles: Readonly<Record<string, string>> = {
  buffer: 'lazy/buffer.ts',
  files: 'lazy/files.ts',
  intl: 'lazy/intl.ts',
  messages: 'lazy/message-channel.ts',
  process: 'lazy/process.ts',
  results: 'lazy/results.ts',
  subtle: 'lazy/subtle.ts',
  streams: 'lazy/streams.ts',
};
