import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { omitUndefined } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { makeFolders } from '../../../file-system/paths.ts';
import { repairContracts } from '../../../operations/contracts/repairs.ts';
import { maxDescriptionBytes } from '../../../repair/repair.ts';
import { findPluginDirs } from '../../find-plugin.ts';
import { renderRepair } from '../../render/repair.ts';
import { tame } from '../../render/style.ts';
import type { CliSession } from '../../session.ts';
import { pluginTemplate } from '../../templates.ts';
import { addCommand, addOperation, withDaemon } from '../command.ts';

const namePattern = /^[a-z][a-z0-9_-]{0,47}$/;

/** Adds `hotcell plugin new`, which writes a plugin to start from, and `hotcell plugin refresh`. */
export function registerPluginNew(plugin: Command, session: CliSession): void {
  addCommand(plugin, {
    name: 'new',
    about: 'write a new plugin to start from',
    arguments: { '<name>': 'lowercase letters, digits, - and _' },
    options: {
      '--describe <text>': 'have the model of repair.model write it: it is tried, and waits for you to look at it',
      '--from <place>': 'make it from the OpenAPI description of an API: an address, or a file',
      '--operations <list>': 'with --from: only these operations, by operationId, with commas between them',
      '--server <url>': 'with --from: where the API is, in place of what the description says',
    },
    run: async ({ name, describe, from, operations, server, json, ...flags }) => {
      if (!namePattern.test(name)) {
        throw new HotcellError('usage-wrong', `Expected a name of lowercase letters, digits, - and _, got "${tame(name)}".`, {
          fix: 'For example: hotcell plugin new weather_report',
        });
      }
      if (from === undefined && (operations ?? server) !== undefined)
        throw new HotcellError('usage-wrong', '--operations and --server say more of an API: name its description with --from.');
      if (describe !== undefined || from !== undefined) {
        const chosen = operations?.split(',').map((each) => each.trim());
        const wish = omitUndefined({
          name,
          description: describe,
          ...(from === undefined ? {} : readPlace(session, from)),
          operations: chosen?.filter((each) => each !== ''),
          server,
        });
        return withDaemon(session, flags, async (client) => {
          const repair = await client.invoke(repairContracts.create, wish);
          if (json) session.printJson(repair);
          else session.print(renderRepair(repair, session.style));
        });
      }
      const [folder] = await findPluginDirs(session, flags);
      if (folder === undefined) throw new HotcellError('config-invalid', 'The config names no plugin folder.');
      const file = join(folder, `${name}.ts`);
      const shown = relative(session.io.cwd, file) || file;
      makeFolders(folder);
      writeNew(file, shown, pluginTemplate(name));
      session.print(`${session.style.green('✓')} wrote ${shown}\n  Try it: hotcell call ${name} text="two words"\n`);
    },
  });

  addOperation(plugin, session, {
    name: 'refresh',
    about: 'propose what changed of the description of an API that a plugin was made from',
    arguments: { '<name>': 'name or path of the plugin' },
    options: {
      '--from <place>': 'the description as it is now, when it is not where the plugin says: an address, or a file',
    },
    contract: repairContracts.refresh,
    input: ({ name, from }) => ({ plugin: name, ...(from === undefined ? {} : readPlace(session, from)) }),
    show: ({ repair }, { name }) =>
      repair === undefined
        ? `Nothing changed: ${tame(name)} is what its description says.\n`
        : renderRepair(repair, session.style),
  });
}

/** A file is read here, as its owner; the daemon reads addresses. */
function readPlace({ io }: CliSession, place: string): { source: string } | { text: string } {
  if (/^https?:\/\//i.test(place)) return { source: place };
  try {
    const file = resolve(io.cwd, place);
    if (statSync(file).size <= maxDescriptionBytes) return { text: readFileSync(file, 'utf8') };
  } catch (cause) {
    throw new HotcellError('usage-wrong', `The file ${tame(place)} cannot be read.`, {
      cause,
      fix: 'Name an address that begins with https:// or a file.',
    });
  }
  throw new HotcellError('payload-too-large', `The file ${tame(place)} has more than ${maxDescriptionBytes} bytes.`, {
    fix: 'Cut it down to the operations that you need, or have a tool do it: npx -y openapi-format --help',
  });
}

function writeNew(file: string, shown: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw new HotcellError('conflict', `${shown} exists already and is left as it is.`, { fix: 'Choose another name.' });
  }
}
