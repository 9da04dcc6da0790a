import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from './terminal.ts';

const plugin = `export default {
  name: 'desk',
  prompts: { greet: { description: 'Greets.', arguments: { name: { required: true }, times: {} },
    handler: ({ name, times = '1' }) => 'Hello ' + name + ' ' + times } },
  resources: {
    door: { uri: 'desk://door', description: 'The door.', read: () => 'open\\u001b[2J' },
    drawer: { uriTemplate: 'desk://drawers/{number}', read: ({ number }) => new Uint8Array([Number(number), 255]) },
  },
  tools: { fill: { description: 'Asks.', handler: (args, context) => context.ask({ message: 'Who?', schema: {
    type: 'object', required: ['name', 'age'],
    properties: {
      name: { type: 'string', title: 'Your name', minLength: 2 },
      age: { type: 'integer', minimum: 0, default: 7 },
      colour: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
      pets: { type: 'array', items: { type: 'string', enum: ['cat', 'dog'] } },
      news: { type: 'boolean' },
    } } }) } },
};`;

let terminal: Terminal;
beforeAll(() => {
  terminal = openTerminal({ 'plugins/desk.js': plugin });
});
afterAll(() => terminal.close());

describe('hotcell prompt', () => {
  it('lists prompts, and fills one in', async () => {
    expect((await terminal.run(['prompt', 'list'])).out).toMatch(/greet +name, times\? +desk +Greets\./);
    expect(await terminal.run(['prompt', 'get', 'greet', 'name=Ann', 'times=1.0'])).toMatchObject({
      code: 0,
      out: 'user: Hello Ann 1.0\n',
    });
    expect((await terminal.run(['prompt', 'get', 'gret', 'name=Ann'])).err).toContain('There is no prompt "gret". Did you mean');
    expect((await terminal.run(['prompt', 'get', 'greet'])).code).not.toBe(0);
  });
});

describe('hotcell resource', () => {
  it('lists resources and templates, and reads one', async () => {
    expect((await terminal.run(['resource', 'list'])).out).toMatch(/desk:\/\/door +desk +- +The door\./);
    expect((await terminal.run(['resource', 'templates'])).out).toContain('desk://drawers/{number}');
    expect((await terminal.run(['resource', 'read', 'desk://door'], { isTTY: true })).out).not.toContain('\u001b[2J');
    expect(JSON.parse((await terminal.run(['resource', 'read', 'desk://drawers/1'])).out)).toMatchObject({ blob: 'Af8=' });
    expect((await terminal.run(['resource', 'read', 'desk://none'])).err).toContain('There is no resource "desk://none"');
  });
});

describe('a form at the terminal', () => {
  it('is asked field by field, and again where an answer does not fit', async () => {
    const asked: string[] = [];
    const answers = ['y', 'A', 'Ann', '', 'x', 'g', 'cat, dog', 'maybe', 'no'];
    const ask = async (question: string) => {
      asked.push(question);
      return answers.shift();
    };
    const { code, out } = await terminal.run(['call', 'fill'], { isTTY: true, ask });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      action: 'accept',
      content: { name: 'Ann', age: 7, colour: 'g', pets: ['cat', 'dog'], news: false },
    });
    expect(asked[1]).toBe('Your name (a text with a length of at least 2): ');
    expect(asked[2]).toBe('Expected a text with a length of at least 2.\nYour name (a text with a length of at least 2): ');
    expect(asked[3]).toContain('7 when left empty');
    expect(asked[4]).toContain('"r" is Red; "g" is Green; may be left empty');
    expect(answers).toEqual([]);
  });
});

describe('hotcell approve', () => {
  it('answers a form with --content', async () => {
    const daemon = await terminal.start();
    try {
      const called = terminal.run(['call', 'fill']);
      await expect.poll(async () => (await terminal.run(['approve', '--json'])).out).toContain('"kind": "ask"');
      const [{ id }] = JSON.parse((await terminal.run(['approve', '--json'])).out).items;
      expect(await terminal.run(['approve', id])).toMatchObject({
        err: expect.stringContaining(`hotcell approve ${id} --content`),
      });
      expect((await terminal.run(['approve', id, '--content', '{"name":"A"}'])).err).toContain(
        'name must be a text with a length',
      );
      expect((await terminal.run(['approve', id, '--content', 'x'])).err).toContain('Expected JSON as the content');
      expect((await terminal.run(['approve', id, '--content', '{}', '--deny'])).err).toContain('not both');
      expect((await terminal.run(['approve', id, '--content', '{"name":"Ann"}'])).out).toContain('Approved.');
      expect(JSON.parse((await called).out)).toMatchObject({ content: { name: 'Ann', age: 7 } });
    } finally {
      await daemon.stop();
    }
  });
});
