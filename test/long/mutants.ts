/** A defence taken out of the sources, and the tests that must notice it. */
export interface Mutant {
  /** The beginning of the promise in docs/threat-model.md that it breaks. */
  readonly promise: string;
  /** What is gone, in a few words. */
  readonly what: string;
  readonly file: string;
  /** A text that stands exactly once in the file, and what it becomes. */
  readonly find: string;
  readonly replace: string;
  /** Test files, as vitest takes them. */
  readonly tests: readonly string[];
}

/** One at least for every line of the promises. */
export const mutants: readonly Mutant[] = [
  {
    promise: "A build reads only the plugin's own files",
    what: 'other plugins’ files count as own',
    file: 'src/plugins/compile/path-policy.ts',
    find: "relative(rootDir, path).startsWith('_')",
    replace: 'true',
    tests: ['test/plugins/compile/compile.test.ts'],
  },
  {
    promise: "A build reads only the plugin's own files",
    what: 'a link that was put there after the look is followed',
    file: 'src/plugins/compile/read-input.ts',
    find: ' | constants.O_NOFOLLOW',
    replace: '',
    tests: ['test/plugins/compile/read-input.test.ts'],
  },
  {
    promise: 'No hook runs but with the very files',
    what: 'a link that was put there after the look is followed',
    file: 'src/hooks/hook-files.ts',
    find: ' | constants.O_NOFOLLOW',
    replace: '',
    tests: ['test/hooks/hook-files.test.ts'],
  },
  {
    promise: 'A hook that fails, is late',
    what: 'a changed guard lets calls pass',
    file: 'src/hooks/before-call.ts',
    find: 'for (const { name } of book.findBlocking(tool)) {',
    replace: 'for (const { name } of book.findBlocking(tool).slice(book.findBlocking(tool).length)) {',
    tests: ['test/hooks/approval.test.ts'],
  },
];
