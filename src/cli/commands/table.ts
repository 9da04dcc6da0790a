import type { Command } from 'commander';
import type { CliSession } from '../session.ts';

/** Commands that one file adds to the program: their help is known without its code. */
interface CommandRow {
  /** What each of them does, by its name. */
  readonly about: Readonly<Record<string, string>>;
  readonly load: () => Promise<(program: Command, session: CliSession) => void>;
}

/** All commands, in the order of the help. */
export const commands: readonly CommandRow[] = [
  {
    about: { start: 'start the daemon; in a terminal it tells what it loads, as a service it logs JSON' },
    load: async () => (await import('./daemon/start.ts')).registerStart,
  },
  {
    about: {
      status: 'show how the daemon does',
      stop: 'end the daemon, as Ctrl-C does where it runs',
      logs: 'show what happened in the daemon; --follow goes on as it happens',
      version: 'show the version of hotcell and of its Node',
    },
    load: async () => (await import('./daemon/daemon.ts')).registerDaemon,
  },
  {
    about: { call: 'call one tool; works without a daemon too' },
    load: async () => (await import('./call.ts')).registerCall,
  },
  {
    about: { why: 'tell why a plugin or an MCP server is in the state it is in' },
    load: async () => (await import('./plugins/why.ts')).registerWhy,
  },
  {
    about: { plugin: 'see and steer plugins' },
    load: async () => (await import('./plugins/plugin.ts')).registerPlugin,
  },
  {
    about: { tool: 'see and set the tools' },
    load: async () => (await import('./plugins/tool.ts')).registerTool,
  },
  {
    about: { prompt: 'see the prompts of plugins, and fill one in', resource: 'see the resources of plugins, and read one' },
    load: async () => (await import('./plugins/offerings.ts')).registerOfferings,
  },
  {
    about: {
      grant: 'allow a plugin something: net=api.example.com read=notes kv …',
      grants: 'list what was granted',
      revoke: 'take back what a plugin was granted, all or the named permissions',
    },
    load: async () => (await import('./access/grant.ts')).registerGrant,
  },
  {
    about: { approve: 'list the questions that wait for a person, or answer one' },
    load: async () => (await import('./access/approve.ts')).registerApprove,
  },
  {
    about: { mcp: 'serve MCP clients on standard streams' },
    load: async () => (await import('./mcp/mcp.ts')).registerMcp,
  },
  {
    about: { repair: 'see what was repaired, and decide about proposals' },
    load: async () => (await import('./plugins/repair.ts')).registerRepair,
  },
  {
    about: { executions: 'see and cancel calls' },
    load: async () => (await import('./executions.ts')).registerExecutions,
  },
  {
    about: { replay: 'run a call again with its recorded answers; nothing outside is touched' },
    load: async () => (await import('./replay.ts')).registerReplay,
  },
  {
    about: { loops: 'see and cancel what models do with tools' },
    load: async () => (await import('./loops.ts')).registerLoops,
  },
  {
    about: { key: 'make, change and revoke API keys' },
    load: async () => (await import('./access/key.ts')).registerKey,
  },
  {
    about: { audit: 'show which permissions were used, refused and decided about, newest first' },
    load: async () => (await import('./access/audit.ts')).registerAudit,
  },
  {
    about: { secret: 'values that plugins use without seeing them' },
    load: async () => (await import('./access/secret.ts')).registerSecret,
  },
  {
    about: { models: 'see and test the language models', usage: 'show what models were used for, and what that cost' },
    load: async () => (await import('./models.ts')).registerModels,
  },
  {
    about: { kv: 'see, export and import the values that plugins keep' },
    load: async () => (await import('./kv.ts')).registerKv,
  },
  {
    about: { code: 'run a script that calls tools' },
    load: async () => (await import('./call.ts')).registerCode,
  },
  {
    about: { schedule: 'see and cancel calls that are made later' },
    load: async () => (await import('./schedule.ts')).registerSchedule,
  },
  {
    about: { build: 'make a plugin into a .wasm that any Extism host runs; needs no daemon' },
    load: async () => (await import('./plugins/build.ts')).registerBuild,
  },
  {
    about: { images: 'images in which native commands run' },
    load: async () => (await import('./daemon/containers.ts')).registerImages,
  },
  {
    about: { containers: 'what runs in containers' },
    load: async () => (await import('./daemon/containers.ts')).registerContainers,
  },
  {
    about: { skill: 'skills: their scripts and the packages that they need' },
    load: async () => (await import('./plugins/skill.ts')).registerSkill,
  },
  {
    about: { hook: 'scripts that hear what the daemon does, and may stop or change calls' },
    load: async () => (await import('./plugins/hook.ts')).registerHook,
  },
  {
    about: { config: 'see and check the configuration' },
    load: async () => (await import('./daemon/config.ts')).registerConfig,
  },
  {
    about: { doctor: 'check what Hotcell needs from this machine, with fixes' },
    load: async () => (await import('./daemon/doctor.ts')).registerDoctor,
  },
  {
    about: { init: 'prepare this folder: config, plugin and skill folders, tsconfig for editors, .gitignore lines' },
    load: async () => (await import('./daemon/init.ts')).registerInit,
  },
  {
    about: { docs: 'list the pages of the documentation, or show one' },
    load: async () => (await import('./docs.ts')).registerDocs,
  },
  {
    about: { completion: 'print what completes commands and names in bash, zsh or fish' },
    load: async () => (await import('./completion.ts')).registerCompletion,
  },
];
