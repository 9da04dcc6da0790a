import type { Command } from 'commander';
import { pluginContracts } from '../../operations/contracts/plugins.ts';
import { toolContracts } from '../../operations/contracts/tools.ts';
import type { CliSession } from '../session.ts';
import { addCommand, type CommonFlags, withDaemon } from './command.ts';

/** What each shell reads: it asks `hotcell completion` again, with the words so far. */
const scripts = {
  bash: `_hotcell() {
  local IFS=$'\\n'
  COMPREPLY=($(hotcell completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _hotcell hotcell
`,
  zsh: `#compdef hotcell
_hotcell() {
  local -a found
  found=("\${(@f)$(hotcell completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ -n "$found" ]] && compadd -a found || _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _hotcell hotcell
`,
  fish: `complete -c hotcell -a '(hotcell completion fish -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

/** Commands whose first argument is the name of a tool, and of a plugin. */
const ofTools = ['call', 'tool info', 'tool set', 'tool remove'];
const ofPlugins = /^(?:why|grants?|revoke|kv \w+|plugin (?!new|list)\w+)$/;

/** Adds `hotcell completion`. */
export function registerCompletion(program: Command, session: CliSession): void {
  addCommand(program, {
    name: 'completion',
    arguments: {
      '<shell>': {
        about: 'whose',
        choices: ['bash', 'zsh', 'fish'],
        fix: () => 'For example: source <(hotcell completion bash)',
      },
      '[words...]': 'after --: what is on the line so far; answers what its last word may become',
    },
    json: false,
    run: async ({ shell, words, ...flags }) => {
      if (words.length === 0) return session.print(scripts[shell]);
      const found = await complete(program, words, () => findNames(session, flags));
      session.print(found.map((word) => `${word}\n`).join(''));
    },
  });
}

interface Names {
  readonly tools: readonly string[];
  readonly plugins: readonly string[];
}

/** What the last word may become. */
async function complete(program: Command, words: readonly string[], findAll: () => Promise<Names>): Promise<string[]> {
  const last = words.at(-1) ?? '';
  let command = program;
  const path: string[] = [];
  let given = 0;
  for (const word of words.slice(0, -1)) {
    const inner = command.commands.find((each) => each.name() === word);
    if (inner === undefined) given += word.startsWith('-') ? 0 : 1;
    else {
      command = inner;
      path.push(word);
    }
  }
  const find = async (): Promise<readonly string[]> => {
    if (last.startsWith('-')) return ['--help', ...command.options.flatMap(({ long }) => long ?? [])];
    if (command.commands.length > 0) return command.commands.map((each) => each.name());
    const name = path.join(' ');
    if (given > 0) return [];
    if (ofTools.includes(name)) return (await findAll()).tools;
    return ofPlugins.test(name) ? (await findAll()).plugins : [];
  };
  return (await find()).filter((word) => word.startsWith(last));
}

async function findNames(session: CliSession, flags: CommonFlags): Promise<Names> {
  try {
    return await withDaemon(session, flags, async (client) => {
      const tools = await client.invoke(toolContracts.list, {});
      const plugins = await client.invoke(pluginContracts.list, {});
      return { tools: tools.items.map(({ name }) => name), plugins: plugins.items.map(({ name }) => name) };
    });
  } catch {
    // Nobody reads a message at a tab key.
    return { tools: [], plugins: [] };
  }
}
