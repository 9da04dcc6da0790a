/**
 * What a plugin brings beside tools: a prompt that a person picks and fills in, resources with addresses of their own, and a form that
 * it asks its caller to fill in when something is missing.
 */
import { definePlugin, defineTool } from 'hotcell';

const styles: Record<string, string> = {
  plain: 'Short sentences in the present tense. One line for each change. No praise.',
  friendly: 'Speak to the reader as "you". Say first what they can do now, then what changed.',
  technical: 'Name modules, options and error codes. Say what breaks, and how to move.',
};
const names = Object.keys(styles);

const note = defineTool({
  description: 'Writes one line of release notes. Asks its caller for what is missing.',
  isParallelSafe: true,
  parameters: {
    type: 'object',
    properties: {
      change: { type: 'string', description: 'What changed' },
      kind: { type: 'string', enum: ['added', 'changed', 'fixed', 'removed'] },
    },
  },
  examples: [{ args: { change: 'Prompts', kind: 'added' }, expect: '- Added: Prompts' }],
  handler: async ({ change, kind }, context) => {
    if (change !== undefined && kind !== undefined) return writeLine(kind, change);
    const form = await context.ask<{ change: string; kind: string }>({
      message: 'What is to stand in the release notes?',
      schema: {
        type: 'object',
        properties: {
          change: { type: 'string', title: 'What changed', minLength: 1, ...(change !== undefined && { default: change }) },
          kind: { type: 'string', title: 'Kind', enum: ['added', 'changed', 'fixed', 'removed'], default: kind ?? 'changed' },
        },
        required: ['change', 'kind'],
      },
    });
    return form.action === 'accept' ? writeLine(form.content.kind, form.content.change) : 'Nothing was noted.';
  },
});

export default definePlugin({
  name: 'release_notes',
  version: '1.0.0',
  description: 'Prompts and style guides for release notes.',
  tags: ['writing'],
  tools: { release_note: note },
  prompts: {
    write_release_notes: {
      title: 'Write release notes',
      description: 'Turns a list of changes into release notes in one of the styles of the house.',
      arguments: {
        changes: { description: 'The changes, such as the lines of git log --oneline', required: true },
        style: { description: 'How they read; plain when left out', complete: names },
      },
      handler: ({ changes, style = 'plain' }) => ({
        description: `Release notes, ${style}`,
        messages: [
          { role: 'user', content: `Write release notes. ${styles[style] ?? styles.plain}` },
          { role: 'user', content: changes ?? '' },
        ],
      }),
    },
  },
  resources: {
    styles: {
      uri: 'release-notes://styles',
      title: 'Styles of release notes',
      mimeType: 'application/json',
      read: () => JSON.stringify(names),
    },
    style: {
      uriTemplate: 'release-notes://styles/{style}',
      title: 'One style of release notes',
      mimeType: 'text/plain',
      complete: { style: names },
      read: ({ style = '' }) => {
        const text = styles[style];
        if (text === undefined) throw new RangeError(`There is no style "${style}", only ${names.join(', ')}.`);
        return text;
      },
    },
  },
});

function writeLine(kind: string, change: string): string {
  return `- ${kind.charAt(0).toUpperCase()}${kind.slice(1)}: ${change}`;
}
