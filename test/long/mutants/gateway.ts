import type { MutantsByPromise } from './mutation.ts';

/** The door for clients of models. */
export const gatewayMutants: MutantsByPromise = {
  "A client of models gets its own calls and nobody else's answer": [
    {
      what: 'calls of the client are taken for those of the daemon',
      file: 'src/gateway/loop-stream.ts',
      find: "const isHidden = part.type === 'tool-call' && !isClients(part.name);",
      replace: "const isHidden = part.type === 'tool-call';",
      tests: ['test/gateway/tools.test.ts'],
    },
    {
      what: 'the key of the client goes to the provider',
      file: 'src/gateway/as-it-came.ts',
      find: 'Object.values(wireFormats).flatMap(({ clientHeaders }) => clientHeaders)',
      replace: "['authorization', 'x-api-key', 'x-goog-api-key']",
      tests: ['test/gateway/attacks.test.ts'],
    },
    {
      what: 'responses are found by their id alone',
      file: 'src/store/tables/kept-answers.ts',
      find: "answers.prepareSelect(database, 'where caller = ? and key = ?')",
      replace: "answers.prepareSelect(database, 'where ? is not null and key = ?')",
      tests: ['test/gateway/attacks.test.ts', 'test/gateway/kept-answers.test.ts'],
    },
  ],
  'A request to a model that is sent again runs no tool twice': [
    {
      what: 'what came before is not known',
      file: 'src/gateway/request-fence.ts',
      find: 'if (row === undefined || known === undefined) return begin(caller, identity);\n      if (known.hash',
      replace: 'if (known === undefined || known.hash !== undefined) return begin(caller, identity);\n      if (known.hash',
      tests: ['test/gateway/tools.test.ts'],
    },
  ],
  'No answer of a model holds more memory than its client reads': [
    {
      what: 'what is not read is written on',
      file: 'src/http/gateway-route.ts',
      find: 'if (!raw.write(chunk)) await waitForReader(raw);',
      replace: 'raw.write(chunk);',
      tests: ['test/gateway/attacks.test.ts'],
    },
  ],
  'Half of what a model says is never told as its answer': [
    {
      what: 'a stream without a reason to end is over',
      file: 'src/models/upstream/ask-providers.ts',
      find: "event.stop.kind === 'interrupted') failure ??= brokenOff(target);",
      replace: "event.stop.kind === 'interrupted') failure ??= undefined;",
      tests: ['test/gateway/failures.test.ts'],
    },
    {
      what: 'what is passed on as it came ends as it came',
      file: 'src/models/upstream/as-is-answer.ts',
      find: '!tail.has(format.endMark)',
      replace: 'tail.has(/nothing has this/)',
      tests: ['test/gateway/failures.test.ts'],
    },
  ],
};
