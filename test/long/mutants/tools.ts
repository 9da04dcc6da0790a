import type { MutantsByPromise } from './mutation.ts';

/** What operators lay down for tools at run time, and what models find of them. */
export const toolMutants: MutantsByPromise = {
  'A tool that was switched off runs for nobody': [
    {
      what: 'a call that waited for a person begins although its tool is off by now',
      file: 'src/calls/tool-caller.ts',
      find: 'acceptance.findRefusal(asSet(entry), request)',
      replace: 'acceptance.findRefusal(entry, request)',
      tests: ['test/tools/settings/tool-settings.test.ts'],
    },
    {
      what: 'a call that waits for a person begins by itself after a restart',
      file: 'src/calls/wait/resume-calls.ts',
      find: 'parts.asSet({ ...makeToolEntry(manifest, served), version: row.version })',
      replace: '{ ...makeToolEntry(manifest, served), version: row.version }',
      tests: ['test/tools/settings/tool-settings.test.ts'],
    },
    {
      what: 'a setting passes to another plugin that takes the name',
      file: 'src/tools/settings/tool-settings.ts',
      find: 'const setting = settingsByPath.get(entry.served.unit.path)?.get(entry.name);',
      replace: 'const setting = [...settingsByPath.values()].flatMap((each) => each.get(entry.name) ?? [])[0];',
      tests: ['test/tools/settings/tool-settings.test.ts'],
    },
  ],
  'Tools that find and call others': [
    {
      what: 'a plugin reaches every tool by way of one',
      file: 'src/builtins/call-tool.ts',
      find: 'if (chain.length === 1) return caller;',
      replace: 'if (chain.length > 0) return caller;',
      tests: ['test/builtins/meta-tools.test.ts'],
    },
    {
      what: 'tools for people are found',
      file: 'src/tools/shown-to-models.ts',
      find: "entry.manifest.who === 'person' || ",
      replace: '',
      tests: ['test/builtins/meta-tools.test.ts'],
    },
  ],
  'A registered tool runs no code': [
    {
      what: 'it takes the name of a plugin',
      file: 'src/tools/registered/registered-tools.ts',
      find: '(names.isReserved(name) || names.isThere(owner))',
      replace: 'names.isReserved(name)',
      tests: ['test/tools/registered/registered-tools.test.ts'],
    },
    {
      what: 'a service sends it elsewhere',
      file: 'src/tools/registered/call-service.ts',
      find: "redirect: 'error',",
      replace: "redirect: 'follow',",
      tests: ['test/tools/registered/registered-tools.test.ts'],
    },
    {
      what: 'what was granted to it stays when it is gone',
      file: 'src/tools/registered/registered-tools.ts',
      find: 'parts.forgetGrants(path);',
      replace: '',
      tests: ['test/tools/registered/registered-tools.test.ts'],
    },
  ],
};
