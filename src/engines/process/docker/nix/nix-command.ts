import type { NixPlan } from './nix-plan.ts';

/**
 * The words that run a command with the packages of a plan, on a machine with Nix: `nix-shell -p jq ripgrep --command "…"`. The
 * command itself when nothing is to be installed. Nothing between is read by a shell but the one text of `--command`.
 */
export function buildNixCommand(plan: NixPlan, command: readonly string[]): string[] {
  switch (plan.kind) {
    case 'none':
      return [...command];
    case 'flake-url':
      return ['nix', 'develop', plan.url, '--command', ...command];
    case 'packages':
      return ['nix-shell', '-p', ...plan.packages, '--command', quoteWords(command)];
    case 'flake-file':
      return ['nix', 'develop', '.', '--command', ...command];
    case 'shell-file':
      return ['nix-shell', '--command', quoteWords(command)];
  }
}

/** Words as one line of a shell. */
export function quoteWords(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}

function quoteWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
