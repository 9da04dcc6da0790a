import type { Command } from 'commander';
import { isObject } from '../../../config/json-object.ts';
import { promptContracts, resourceContracts } from '../../../operations/contracts/offerings.ts';
import { readCommandArguments } from '../../calling/call-arguments.ts';
import { callAndFollow } from '../../calling/follow-call.ts';
import { printAnswer } from '../../calling/print-answer.ts';
import { renderOutput } from '../../render/output.ts';
import { tame } from '../../render/style.ts';
import type { CliSession } from '../../session.ts';
import { addClientCommand, addListing } from '../command.ts';

/** Adds `hotcell prompt …` and `hotcell resource …`. */
export function registerOfferings(program: Command, session: CliSession): void {
  registerPrompt(program.command('prompt'), session);
  registerResource(program.command('resource'), session);
}

function registerPrompt(prompt: Command, session: CliSession): void {
  const { bold } = session.style;
  addListing(prompt, session, {
    name: 'list',
    about: 'list the prompts of plugins',
    contract: promptContracts.list,
    reach: 'alone',
    empty: 'No prompts.\n',
    columns: [
      { head: 'PROMPT', text: ({ name }) => name, paint: bold },
      {
        head: 'ARGUMENTS',
        text: (row) => row.arguments.map(({ name, required }) => (required ? name : `${name}?`)).join(', ') || '-',
      },
      { head: 'PLUGIN', text: ({ plugin }) => plugin },
      { head: 'ABOUT', text: ({ title, description }) => description ?? title ?? '' },
    ],
  });
  addClientCommand(prompt, session, {
    name: 'get',
    about: 'fill in a prompt and show its messages',
    arguments: { '<name>': 'of the prompt', '[arguments...]': 'key=value' },
    options: { '--full': 'print the whole answer as JSON' },
    json: false,
    reach: 'alone',
    run: async ({ name, arguments: words, full }, client) => {
      const args = Object.entries(readCommandArguments(words, textsOf(words))).map(([key, value]) => [key, String(value)]);
      const input = { name, arguments: Object.fromEntries(args) };
      await printAnswer(session, await callAndFollow(session, client, promptContracts.get, input), {
        full,
        render: renderMessages,
      });
    },
  });
}

function registerResource(resource: Command, session: CliSession): void {
  const { bold } = session.style;
  const columns = [
    { head: 'PLUGIN', text: ({ plugin }: { readonly plugin: string }) => plugin },
    { head: 'TYPE', text: ({ mimeType = '-' }: { readonly mimeType?: string }) => mimeType },
    {
      head: 'ABOUT',
      text: ({ title, description }: { readonly title?: string; readonly description?: string }) => description ?? title ?? '',
    },
  ];
  addListing(resource, session, {
    name: 'list',
    about: 'list the resources of plugins',
    contract: resourceContracts.list,
    reach: 'alone',
    empty: 'No resources.\n',
    columns: [{ head: 'RESOURCE', text: ({ uri }) => uri, paint: bold }, ...columns],
  });
  addListing(resource, session, {
    name: 'templates',
    about: 'list the templates of addresses under which plugins have resources',
    contract: resourceContracts.templates,
    reach: 'alone',
    empty: 'No templates.\n',
    columns: [{ head: 'TEMPLATE', text: ({ uriTemplate }) => uriTemplate, paint: bold }, ...columns],
  });
  addClientCommand(resource, session, {
    name: 'read',
    about: 'read a resource',
    arguments: { '<uri>': 'its address' },
    options: { '--full': 'print the whole answer as JSON' },
    json: false,
    reach: 'alone',
    run: async ({ uri, full }, client) => {
      const answer = await callAndFollow(session, client, resourceContracts.read, { uri });
      await printAnswer(session, answer, { full, render: renderContents });
    },
  });
}

/** Every argument of a prompt is a text. */
function textsOf(words: readonly string[]) {
  return { properties: Object.fromEntries(words.map((word) => [word.split('=', 1)[0], { type: 'string' }])) };
}

function renderMessages(output: unknown, isTTY: boolean): string {
  const messages = isObject(output) && Array.isArray(output.messages) ? output.messages : [];
  const shown = messages.filter(isObject).map(({ role, content }) => {
    const text = isObject(content) && typeof content.text === 'string' ? tame(content.text) : renderOutput(content, isTTY);
    return `${String(role)}: ${text.trimEnd()}\n`;
  });
  return shown.join('');
}

/** One text is shown as it is; of bytes it is said that there are some. */
function renderContents(output: unknown, isTTY: boolean): string {
  const contents = isObject(output) && Array.isArray(output.contents) ? output.contents.filter(isObject) : [];
  const shown = contents.map((each) => (typeof each.text === 'string' ? each.text : each));
  return shown.map((each) => renderOutput(each, isTTY)).join('');
}
