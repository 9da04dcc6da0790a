/** What reads a script: a command that the image must have, with the arguments before the script. */
export type ChosenInterpreter =
  | { readonly ok: true; readonly command: string; readonly args: readonly string[] }
  | { readonly ok: false; readonly reason: string };

const commandsByExtension: Readonly<Record<string, string>> = {
  py: 'python3',
  js: 'node',
  mjs: 'node',
  cjs: 'node',
  ts: 'node',
  mts: 'node',
  sh: 'sh',
  bash: 'bash',
  rb: 'ruby',
  pl: 'perl',
  php: 'php',
  lua: 'lua',
};
const commandPattern = /^[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}$/;
const maxLineChars = 256;
/** How machine code of Linux begins. */
const elf = '\u007fELF';

/**
 * Chooses what reads a script: its first line (`#!/usr/bin/env -S python3 -u`) wins over its extension. Only the name of the
 * command counts, wherever the first line looks for it.
 */
export function chooseInterpreter(name: string, data: Uint8Array): ChosenInterpreter {
  const [first = ''] = Buffer.from(data.subarray(0, maxLineChars + 2))
    .toString('latin1')
    .split(/\r?\n/, 1);
  if (first.startsWith(elf)) return refuse('It is machine code; what a skill runs is read by an interpreter of the image.');
  if (first.startsWith('#!')) return readFirstLine(first);
  const extension = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : '';
  const command = Object.hasOwn(commandsByExtension, extension) ? commandsByExtension[extension] : undefined;
  if (command !== undefined) return { ok: true, command, args: [] };
  return refuse('Nothing says what reads it: begin it with a line such as #!/usr/bin/env python3.');
}

function readFirstLine(line: string): ChosenInterpreter {
  if (line.length > maxLineChars) return refuse('Its first line is too long.');
  const words = line.slice(2).trim().split(/\s+/);
  const isEnv = baseName(words[0] ?? '') === 'env';
  if (isEnv) words.shift();
  if (isEnv && words[0] === '-S') words.shift();
  const [program = '', ...args] = words;
  const command = baseName(program);
  if (!commandPattern.test(command)) return refuse('Its first line names no command.');
  // Many images have python3 alone.
  return { ok: true, command: command === 'python' ? 'python3' : command, args };
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function refuse(reason: string): ChosenInterpreter {
  return { ok: false, reason };
}
