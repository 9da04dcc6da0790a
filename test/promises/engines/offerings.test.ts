import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvalContracts } from '../../../src/operations/contracts/access/approvals.ts';
import { completionContracts, promptContracts, resourceContracts } from '../../../src/operations/contracts/offerings.ts';
import { until } from '../../plugins/rig/supervisor-rig.ts';
import { type EngineHouse, openEngineHouse } from './engine-house.ts';
import { type Part, presentParts } from './subjects.ts';

const plugin = (engine: string) => `export default {
  engine: '${engine}',
  prompts: { ask_${engine}: { arguments: { word: { required: true, complete: (value) => [value + '_${engine}'] } },
    handler: async ({ word }, context) => {
      const form = await context.ask({ message: 'For ${engine}?', schema: { type: 'object', properties: { more: { type: 'string' } } } });
      return word + ' ' + (form.content?.more ?? form.action);
    } } },
  resources: {
    bytes: { uri: '${engine}://bytes', read: () => new Uint8Array([0, 255]) },
    row: { uriTemplate: '${engine}://rows/{id}', read: ({ id }, context) => id + ' of ' + context.caller.id },
  },
};`;
const guest = (engine: string, needs?: Part) => ({
  title: engine,
  plugin: `offers_${engine}`,
  ...(needs === undefined ? {} : { needs }),
  files: async () => ({ [`offers_${engine}.js`]: plugin(engine) }),
});
const guests = presentParts([guest('quickjs'), guest('deno', 'deno'), guest('docker', 'docker')], ({ title }) => title);
let world: EngineHouse;

beforeAll(async () => {
  world = await openEngineHouse({ subjects: guests });
}, 60_000);
afterAll(() => world.close());

describe.each(guests.map(({ title }) => title))('prompts and resources on %s', (engine) => {
  it('are made and read by their functions, which may ask the caller', async () => {
    const { client } = world.house;
    const name = `ask_${engine}`;
    const getting = client.invoke(promptContracts.get, { name, arguments: { word: 'Hello' } });
    const find = async () =>
      (await client.invoke(approvalContracts.list, {})).items.find(({ tool }) => tool === `prompt:${name}`);
    await until(async () => (await find()) !== undefined, 'the form');
    await client.invoke(approvalContracts.answer, { id: (await find())?.id ?? '', answer: 'approve', content: { more: 'you' } });
    expect(await getting).toMatchObject({ output: { messages: [{ content: { type: 'text', text: 'Hello you' } }] } });
    const complete = { ref: { type: 'prompt' as const, name }, argument: { name: 'word', value: 'x' } };
    expect((await client.invoke(completionContracts.complete, complete)).values).toEqual([`x_${engine}`]);
    const read = async (uri: string) => (await client.invoke(resourceContracts.read, { uri })).output;
    expect(await read(`${engine}://bytes`)).toMatchObject({ contents: [{ blob: 'AP8=' }] });
    expect(await read(`${engine}://rows/7`)).toMatchObject({ contents: [{ text: '7 of local' }] });
  });
});
