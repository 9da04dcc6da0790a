import { homedir, platform } from 'node:os';
import { join } from 'node:path';

/** How a client starts what speaks MCP to it on standard streams. */
export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Where one MCP client keeps its servers, and how it writes one. */
export interface ClientFile {
  readonly title: string;
  /** For all projects of this person. */
  readonly userFile: string;
  /** For one project, below its folder. */
  readonly projectFile?: string;
  /** The keys under which the servers stand by name. */
  readonly path: readonly string[];
  readonly entry: (entry: ServerEntry) => Readonly<Record<string, unknown>>;
  /** What to do until the client sees it. */
  readonly next: string;
}

const home = homedir();
const plain = ({ command, args, env }: ServerEntry) => ({ command, args, env });
const typed = (entry: ServerEntry) => ({ type: 'stdio', ...plain(entry) });

/** Folders of settings as the systems have them. */
function settingsFolder(): string {
  if (platform() === 'darwin') return join(home, 'Library', 'Application Support');
  return platform() === 'win32' ? (process.env.APPDATA ?? join(home, 'AppData', 'Roaming')) : join(home, '.config');
}

/** The clients that can be set up, by the word for `--client`. */
export const clientFiles: Readonly<Record<string, ClientFile>> = {
  'claude-code': {
    title: 'Claude Code',
    userFile: join(home, '.claude.json'),
    projectFile: '.mcp.json',
    path: ['mcpServers'],
    entry: typed,
    next: 'Start claude and see it with /mcp.',
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    userFile: join(settingsFolder(), 'Claude', 'claude_desktop_config.json'),
    path: ['mcpServers'],
    entry: plain,
    next: 'Quit Claude and open it again.',
  },
  cursor: {
    title: 'Cursor',
    userFile: join(home, '.cursor', 'mcp.json'),
    projectFile: join('.cursor', 'mcp.json'),
    path: ['mcpServers'],
    entry: plain,
    next: 'See it in Cursor under Settings, MCP.',
  },
  vscode: {
    title: 'VS Code',
    userFile: join(settingsFolder(), 'Code', 'User', 'mcp.json'),
    projectFile: join('.vscode', 'mcp.json'),
    path: ['servers'],
    entry: typed,
    next: 'Run "MCP: List Servers" in VS Code and start it.',
  },
  windsurf: {
    title: 'Windsurf',
    userFile: join(home, '.codeium', 'windsurf', 'mcp_config.json'),
    path: ['mcpServers'],
    entry: plain,
    next: 'Refresh the MCP servers in Windsurf.',
  },
  gemini: {
    title: 'Gemini CLI',
    userFile: join(home, '.gemini', 'settings.json'),
    projectFile: join('.gemini', 'settings.json'),
    path: ['mcpServers'],
    entry: plain,
    next: 'Start gemini and see it with /mcp.',
  },
  opencode: {
    title: 'opencode',
    userFile: join(home, '.config', 'opencode', 'opencode.json'),
    projectFile: 'opencode.json',
    path: ['mcp'],
    entry: ({ command, args, env }) => ({ type: 'local', command: [command, ...args], environment: env, enabled: true }),
    next: 'Start opencode again.',
  },
};
