import type { MutantsByPromise } from './mutation.ts';

/** Plugins that are mended, and what models may do to them. */
export const repairMutants: MutantsByPromise = {
  'A repair writes over nothing that a person saved': [
    {
      what: 'what was saved in the middle of a repair is replaced',
      file: 'src/plugins/supervisor/mending.ts',
      find: "if (![...diagnosed].every(([path, text]) => isOnDisk(path, text))) return { kind: 'changed' };",
      replace: '',
      tests: ['test/plugins/supervisor/mending.test.ts'],
    },
    {
      what: 'an edit is written over',
      file: 'src/plugins/supervisor/mending.ts',
      find: 'if (!isThere || realPathOf(file) !== file)',
      replace: 'if (false)',
      tests: ['test/plugins/supervisor/mending.test.ts'],
    },
    {
      what: 'what a repair made is kept for the work of the operator',
      file: 'src/plugins/supervisor/reconciler.ts',
      find: "return (author !== 'repair' && author !== 'model') || parts.written.authorOf(inputs).author === author;",
      replace: 'return true || inputs === undefined || author === undefined;',
      tests: ['test/plugins/supervisor/mending.test.ts'],
    },
  ],
  'What is told of a repair outlives the daemon': [
    {
      what: 'the end is told before its generation is on the disk',
      file: 'src/plugins/supervisor/mending.ts',
      find: '      await archive.flush();',
      replace: '',
      tests: ['test/repair/repairs.test.ts'],
    },
    {
      what: 'half of a text stays beside the plugin',
      file: 'src/plugins/supervisor/restore.ts',
      find: '    sweepParts(root.path);',
      replace: '',
      tests: ['test/plugins/supervisor/mending.test.ts'],
    },
  ],
  'A repair has an end': [
    {
      what: 'whoever says so is a person',
      file: 'src/operations/handlers/plugins/repairs.ts',
      find: 'person === true && caller.id === operatorId',
      replace: 'person === true',
      tests: ['test/repair/daemon.test.ts'],
    },
    {
      what: 'a trial has none',
      file: 'src/repair/trial/try-proposal.ts',
      find: 'AbortSignal.any([whole.signal, over])',
      replace: 'whole.signal',
      tests: ['test/repair/health.test.ts'],
    },
    {
      what: 'the same diagnosis starts one again',
      file: 'src/repair/decide-start.ts',
      find: "repair.state === 'given-up' && repair.failureKey === failureKey",
      replace: 'false',
      tests: ['test/repair/decide.test.ts'],
    },
    {
      what: 'tokens have no end',
      file: 'src/repair/decide-next.ts',
      find: 'tokens <= 0 || cost <= 0',
      replace: 'false',
      tests: ['test/repair/decide.test.ts'],
    },
  ],
  'What a model writes as a plugin was tried': [
    {
      what: 'what reaches for something is written by itself',
      file: 'src/repair/model/keep-proposals.ts',
      find: "parts.settings().create !== 'auto' || asks.length > 0",
      replace: "parts.settings().create !== 'auto'",
      tests: ['test/repair/authoring.test.ts'],
    },
    {
      what: 'nobody tries its examples',
      file: 'src/repair/trial/try-proposal.ts',
      find: 'if (isNew && !isBroken)',
      replace: 'if (!isNew && !isBroken && before === undefined)',
      tests: ['test/repair/authoring.test.ts'],
    },
  ],
  'Callers cannot fill the places for proposals': [
    {
      what: 'callers have the places of the operator',
      file: 'src/repair/decide-next.ts',
      find: '(isOperator ? reserve : 0)',
      replace: 'reserve',
      tests: ['test/repair/authoring.test.ts', 'test/repair/decide.test.ts'],
    },
    {
      what: 'any admin is told where files lie on the machine',
      file: 'src/operations/handlers/plugins/repairs.ts',
      find: 'id === operatorId ? each : repairs.showPath(each)',
      replace: 'id === operatorId ? each : each',
      tests: ['test/repair/authoring.test.ts'],
    },
  ],
  'The description of an API is read through the network check': [
    {
      what: 'any host is read for a model',
      file: 'src/repair/api/description-reader.ts',
      find: 'reachesPublic: isPublic };',
      replace: 'reachesPublic: true };',
      tests: ['test/repair/api/api-plugin.test.ts'],
    },
    {
      what: 'a file outside of the folders is read',
      file: 'src/repair/api/description-reader.ts',
      find: 'isVisibleInside(real, file)',
      replace: 'isVisibleInside(real, file) || true',
      tests: ['test/repair/api/api-plugin.test.ts'],
    },
    {
      what: 'what is unseen stands in the text as it is',
      file: 'src/repair/api/write-plugin.ts',
      find: 'const line = describeUntrustedValue(value);',
      replace: 'const line = JSON.stringify(value);',
      tests: ['test/repair/api/make-plugin.test.ts'],
    },
    {
      what: 'an argument leads to another operation',
      file: 'src/repair/api/write-plugin.ts',
      find: '  if (!isStraight) throw',
      replace: '  if (!isStraight && false) throw',
      tests: ['test/repair/api/api-plugin.test.ts'],
    },
    {
      what: 'a schema unfolds without end',
      file: 'src/repair/api/references.ts',
      find: 'if (parts > maxParts) throw',
      replace: 'if (parts > maxParts * 1000) throw',
      tests: ['test/repair/api/make-plugin.test.ts'],
    },
  ],
  'What a model proposes serves by itself only where the config says so': [
    {
      what: 'what asks for more is published',
      file: 'src/repair/decide-next.ts',
      find: "if (verdict === 'asks-for-more' || asks.length > 0) return 'propose';",
      replace: '',
      tests: ['test/repair/decide.test.ts', 'test/repair/model/propose-by-model.test.ts'],
    },
    {
      what: 'a change of the examples is not told',
      file: 'src/repair/model/scan.ts',
      find: 'blocksOf(old, name) !== blocksOf(now, name)',
      replace: 'false',
      tests: ['test/repair/model/scan.test.ts'],
    },
    {
      what: 'text can end the marks around it',
      file: 'src/repair/model/prompt.ts',
      find: "randomBytes(12).toString('hex')",
      replace: "'0'.repeat(24)",
      tests: ['test/repair/model/propose-by-model.test.ts'],
    },
  ],
};
