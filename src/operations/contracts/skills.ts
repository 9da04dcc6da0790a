import { type Static, Type } from 'typebox';
import Value from 'typebox/value';
import { nativeInput, nativeOutput } from '../../builtins/native/run-native.ts';
import type { CallAnswer } from '../../calls/call-types.ts';
import { callAnswerProperties } from '../../calls/call-types.ts';
import { defineContract } from '../operation.ts';
import { listOf } from './paging.ts';

const name = Type.String({ minLength: 1, maxLength: 64, description: 'The name of the skill.' });
const contentHash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 over all files of the skill.' });

const skillView = Type.Object({
  name: Type.String(),
  description: Type.String(),
  version: Type.String(),
  path: Type.String(),
  contentHash: Type.Optional(contentHash),
  scripts: Type.Integer({ description: 'Files in scripts/.' }),
  approved: Type.Integer({ description: 'Of those how many are approved as they are now.' }),
  problem: Type.Optional(Type.String({ description: 'Why nothing of it can be used.' })),
});

const scriptView = Type.Object({
  name: Type.String(),
  tool: Type.String({ description: 'The tool that it is once it is approved.' }),
  isApproved: Type.Boolean(),
  interpreter: Type.Optional(Type.String()),
  image: Type.Optional(Type.String()),
  problem: Type.Optional(Type.String({ description: 'Why it cannot run.' })),
});

/** A script as every door shows it. */
export type SkillScriptView = Static<typeof scriptView>;

const scriptsView = Type.Object({
  skill: Type.String(),
  path: Type.String(),
  contentHash,
  granted: Type.String({ description: 'What is granted, in the words of hotcell grant.' }),
  pending: Type.String({ description: 'What it asks for beyond that.' }),
  items: Type.Array(scriptView),
});

const packagesView = Type.Object({
  skills: Type.Array(Type.String()),
  source: Type.Enum(['none', 'flake-url', 'packages', 'flake-file', 'shell-file'], {
    description: 'Which of the sources wins.',
  }),
  packages: Type.Array(Type.String()),
  shadowed: Type.Array(Type.String(), { description: 'Sources that do not count because of it.' }),
  problem: Type.Optional(Type.String({ description: 'Why nothing can be installed.' })),
  command: Type.Optional(Type.String({ description: 'How a script is run on a machine with Nix.' })),
  recipe: Type.Optional(Type.String({ description: 'A Dockerfile.' })),
  build: Type.Optional(Type.String({ description: 'The command that makes the image.' })),
  image: Type.Optional(
    Type.Object({
      name: Type.String(),
      state: Type.Enum(['present', 'changed', 'missing', 'not-named', 'unknown']),
      fix: Type.Optional(Type.String()),
    }),
  ),
});

/** Packages of a skill as every door shows them. */
export type SkillPackagesView = Static<typeof packagesView>;

/** Reads the output of a script. */
export function readScriptOutput(output: unknown): Static<typeof nativeOutput> {
  return Value.Parse(nativeOutput, output);
}

/** What the script wrote and how it ended is the output. */
const scriptAnswer = Type.Unsafe<CallAnswer>(Type.Object({ ...callAnswerProperties, output: Type.Optional(nativeOutput) }));

/** What can be done with skills. */
export const skillContracts = {
  list: defineContract({
    name: 'skills.list',
    summary: 'Lists the skills of the skill folders, and folders that are none because something is wrong with them.',
    role: 'admin',
    input: {},
    output: listOf(skillView),
    http: { method: 'GET', path: '/api/skills' },
  }),
  scripts: defineContract({
    name: 'skills.scripts',
    summary: 'Lists the scripts of a skill: what reads them, where they run, whether they are approved.',
    role: 'admin',
    input: { name },
    output: scriptsView,
    http: { method: 'GET', path: '/api/skills/:name/scripts' },
  }),
  approve: defineContract({
    name: 'skills.approve',
    summary: 'Lets scripts of a skill run as they are now, with what they ask for.',
    role: 'admin',
    isForPeople: true,
    input: {
      name,
      contentHash,
      scripts: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 100, description: 'All when left out.' }),
      ),
      runOnly: Type.Optional(Type.Boolean({ description: 'Grants nothing but to run: no workspace, no network.' })),
    },
    output: scriptsView,
    http: { method: 'POST', path: '/api/skills/:name/approve' },
  }),
  run: defineContract({
    name: 'skills.run',
    summary: 'Runs an approved script of a skill in a container, and answers as a call of its tool does.',
    role: 'caller',
    input: {
      name,
      script: Type.String({ minLength: 1, maxLength: 64 }),
      args: Type.Optional(Type.Array(Type.String({ maxLength: 65_000 }), { maxItems: 900 })),
      session: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
      ...nativeInput,
    },
    output: scriptAnswer,
    streams: true,
    http: { method: 'POST', path: '/api/skills/:name/scripts/:script/run' },
  }),
  packages: defineContract({
    name: 'skills.packages',
    summary: 'Says which packages skills ask for, and how to make the image that has them.',
    role: 'admin',
    input: {
      name,
      with: Type.Optional(Type.Array(name, { maxItems: 32, description: 'Skills whose packages it has, too.' })),
      base: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'The image with the interpreter.' })),
    },
    output: packagesView,
    http: { method: 'GET', path: '/api/skills/:name/packages' },
  }),
};
