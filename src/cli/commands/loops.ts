import type { Command } from 'commander';
import { loopContracts } from '../../operations/contracts/loops.ts';
import { tame } from '../render/style.ts';
import { formatTime } from '../render/time-text.ts';
import type { CliSession } from '../session.ts';
import { addListing, addOperation } from './command.ts';

/** Adds `hotcell loops …`. */
export function registerLoops(program: Command, session: CliSession): void {
  const loops = program.command('loops');
  const { style } = session;
  const onLoop = { arguments: { '<id>': 'its id' } } as const;

  addListing(loops, session, {
    name: 'list',
    isDefault: true,
    about: 'list the loops of models that run, and those of the last day',
    contract: loopContracts.list,
    empty: 'No loops.\n',
    columns: [
      { head: 'ID', text: ({ id }) => tame(id), paint: style.bold },
      { head: 'TIME', text: ({ startedAtMs }) => formatTime(startedAtMs) },
      { head: 'STATE', text: ({ state }) => state },
      { head: 'FOR', text: ({ purpose }) => purpose },
      { head: 'CALLER', text: ({ caller }) => tame(caller) },
      { head: 'MODEL', text: ({ model }) => tame(model) },
      { head: 'ROUNDS', text: ({ rounds }) => String(rounds) },
      { head: 'TOKENS', text: ({ tokens }) => String(tokens) },
    ],
  });

  addOperation(loops, session, {
    ...onLoop,
    name: 'show',
    about: 'show one loop',
    contract: loopContracts.get,
    show: ({ id, state, rounds, tokens, calls, end }) => {
      const head = `${style.bold(tame(id))}  ${end?.reason ?? state} after ${rounds} ${rounds === 1 ? 'round' : 'rounds'} and ${tokens} tokens\n`;
      const waits = calls.map(({ name, approval, executionId = '' }) =>
        tame(
          approval === undefined ? `runs ${name} ${executionId}\n` : `${name} waits for a person: hotcell approve ${approval}\n`,
        ),
      );
      return `${head}${waits.join('')}${end === undefined ? '' : `\n${tame(end.text)}\n`}`;
    },
  });

  addOperation(loops, session, {
    ...onLoop,
    name: 'cancel',
    about: 'cancel a loop, and the calls that it waits for',
    contract: loopContracts.cancel,
    show: ({ cancelled }, { id }) => (cancelled ? `${style.green('✓')} ${id} is cancelled.\n` : `${id} had ended already.\n`),
  });
}
