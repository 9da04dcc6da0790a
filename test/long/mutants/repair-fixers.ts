import type { MutantsByPromise } from './mutation.ts';

/** What a repair reads, changes and is sure of, before anything is tried. */
export const repairFixerMutants: MutantsByPromise = {
  'What a failed plugin refers to makes its repair read nothing': [
    {
      what: 'a package leads out of its folder',
      file: 'src/typescript/type-files.ts',
      find: 'if (!isOfPackage(real) || !stats.isFile()',
      replace: 'if (!stats.isFile()',
      tests: ['test/typescript/inspect.test.ts'],
    },
    {
      what: 'any file is a file of a package',
      file: 'src/typescript/type-files.ts',
      find: 'if (!packageFile.test(path) || !isOfPackage(path)) return undefined;',
      replace: '',
      tests: ['test/typescript/inspect.test.ts'],
    },
    {
      what: 'a text of any length is looked into',
      file: 'src/typescript/checker.ts',
      find: 'if (chars <= maxInspectedChars) return;',
      replace: 'if (chars > 0) return;',
      tests: ['test/typescript/inspect.test.ts'],
    },
  ],
  'Fixers change no healthy plugin': [
    {
      what: 'words that say what a plugin may do are renamed',
      file: 'src/repair/fixers/manifest.ts',
      find: 'if (untouched.has(meant)) return [];',
      replace: '',
      tests: ['test/repair/fixers/fixers.test.ts'],
    },
    {
      what: 'whatever TypeScript offers is sure',
      file: 'src/repair/fixers/expected-tokens.ts',
      find: 'parsing.length === 1 && between.has(change.token)',
      replace: 'parsing.length > 0',
      tests: ['test/repair/fixers/fixers.test.ts'],
    },
    {
      what: 'what does not get better is kept',
      file: 'src/repair/fixers/apply-fixers.ts',
      find: "const isBetterNow = isBetter(before, after, proposal.by === 'pasted-text');",
      replace: 'const isBetterNow = true;',
      tests: ['test/repair/fixers/fixers.test.ts', 'test/repair/fixers/corpus.test.ts'],
    },
  ],
  'A sure change is what was meant': [
    {
      what: 'a plugin with names that nobody declares is mended',
      file: 'src/repair/fixers/apply-fixers.ts',
      find: ' && !lacksNames(current);',
      replace: ';',
      tests: ['test/repair/fixers/fixers.test.ts'],
    },
    {
      what: 'another built-in stands for one that the sandbox has not',
      file: 'src/repair/fixers/builtins.ts',
      find: 'if (refusedBuiltins.has(name)) return [];',
      replace: '',
      tests: ['test/repair/fixers/fixers.test.ts'],
    },
  ],
  'A patch that edits its own checks gains nothing': [
    {
      what: 'the health check of the change counts',
      file: 'src/repair/trial/try-checks.ts',
      find: "own.fault === undefined ? await runWithFormer(calls.healthcheck) : 'the same'",
      replace: "(runWithFormer === undefined ? await calls.healthcheck(before) : 'the same')",
      tests: ['test/repair/trial/trial.test.ts'],
    },
    {
      what: 'what only the check reads is left as the change has it',
      file: 'src/typescript/restore-check.ts',
      find: '.filter((key) => !others.has(key))',
      replace: '.filter((key) => key === checkKey && !others.has(key))',
      tests: ['test/typescript/restore-check.test.ts'],
    },
  ],
  'What is not the fault of a plugin': [
    {
      what: 'a refused permission is a failure of the plugin',
      file: 'src/repair/failures/classify-failure.ts',
      find: 'if ((error.refused?.length ?? 0) > 0)',
      replace: 'if ((error.refused?.length ?? 0) > 1)',
      tests: ['test/repair/failures/classify-failure.test.ts'],
    },
    {
      what: 'a broken host is a failure of the plugin',
      file: 'src/repair/failures/classify-failure.ts',
      find: 'if (answered !== undefined) return { nobody: answered };',
      replace: '',
      tests: ['test/repair/failures/classify-failure.test.ts'],
    },
  ],
};
