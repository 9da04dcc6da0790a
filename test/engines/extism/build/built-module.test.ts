import { beforeAll, describe, expect, it } from 'vitest';
import { buildText, moduleOf, openInSdk, type SdkModule } from './build-fixture.ts';

const source = `
let calls = 0;
const places: string[] = [];

function fail(args: { how: string; list?: { first: string }[] }) {
  if (args.how === 'throws') {
    throw new TypeError('no such luck');
  }
  return args.list?.[7].first.length;
}

export default {
  name: 'portable', version: '1.0.0', description: 'Shows what a module can do.', permissions: { net: ['a.example'] },
  tools: {
    count: { description: 'Counts its calls.', handler: () => { places.push('here'); return { calls: ++calls, places: places.length }; } },
    echo: { description: 'Says it again.', handler: async ({ value }: { value: unknown }) => { await null; return value; } },
    fails: { description: 'Fails.', handler: fail },
    random: { description: 'Draws.', handler: () => [Math.random(), Math.random(), crypto.randomUUID(), ...crypto.getRandomValues(new Uint8Array(4))] },
    time: { description: 'Tells the time.', handler: () => ({ now: Date.now(), year: new Date().getUTCFullYear() }) },
    waits: { description: 'Waits.', handler: async () => {
      const order: string[] = [];
      const after = (ms: number) => new Promise<void>((resolve) => setTimeout(() => { order.push(String(ms)); resolve(); }, ms));
      await Promise.all([after(300), after(20), after(100).then(() => after(50))]);
      return order;
    } },
    web: { description: 'Uses the web API.', handler: async () => ({
      url: new URL('../b?q=ä#x', 'https://user@exämple.com:8443/a/').href,
      query: [...new URLSearchParams('a=1&a=2&b=%C3%A9')],
      utf8: [...new TextEncoder().encode('ä€😀')],
      text: new TextDecoder().decode(new Uint8Array([0xf0, 0x9f, 0x98, 0x80, 0xff, 0xe2, 0x82])),
      base64: btoa('hällo'), back: atob('aORsbG8='),
      digest: Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode('abc'))).toString('hex'),
      cloned: structuredClone(new Map([['a', [1]]])).get('a'),
      blob: await new Blob(['ab', 'c']).text(),
      response: await new Response('{"a":1}').json(),
      number: (1234567.5).toLocaleString(),
      sorted: ['b', 'a', 'B', 'á'].sort((x, y) => x.localeCompare(y)),
    }) },
    settings: { description: 'Reads settings.', handler: (_args: object, context: any) => [context.config.get('greeting'), context.env.get('KEY'), context.config.get('none', 'else')] },
    keeps: { description: 'Keeps.', handler: async (_args: object, context: any) => {
      await context.kv.set('b', { deep: [1] }); await context.kv.set('a', 2); await context.kv.set('c', null); await context.kv.delete('c');
      return { b: await context.kv.get('b'), none: await context.kv.get('none'), list: await context.kv.list({ limit: 1 }) };
    } },
    logs: { description: 'Logs.', handler: (_args: object, context: any) => { context.log.warn('careful', { a: 1 }); console.log('plain'); return null; } },
    refused: { description: 'Wants a daemon.', handler: ({ member }: { member: string }, context: any) => {
      const wanted: Record<string, () => unknown> = {
        files: () => context.files.read('a.txt'), tools: () => context.tools.call('other', {}), llm: () => context.llm.generate('hi'),
        run: () => context.run('ls'), confirm: () => context.confirm('sure?'), skill: () => context.skill('x'), intl: () => new Intl.NumberFormat('de').format(1),
        agent: () => context.agent.pushTask('x'),
      };
      return wanted[member]?.();
    } },
    never: { description: 'Never ends.', handler: () => new Promise(() => {}) },
    deep: { description: 'Nests.', handler: () => { const nest = (n: number): number => 1 + nest(n + 1); try { return nest(0); } catch (error) { return String(error); } } },
    big: { description: 'Fills memory.', handler: () => { const held = []; for (let at = 0; at < 16; at++) held.push(new Uint8Array(1_000_000)); return held.length; } },
    call: { description: 'Has the name of an export.', handler: () => 'the tool' },
  },
};
`;

let module: Uint8Array;
let sdk: SdkModule;
const logged: string[] = [];
const logger = Object.fromEntries(
  ['trace', 'debug', 'info', 'warn', 'error'].map((level) => [level, (text: string) => logged.push(`${level}: ${text}`)]),
);
beforeAll(async () => {
  module = moduleOf(await buildText('portable.ts', source));
  sdk = await openInSdk(module, {
    config: { greeting: 'hello', KEY: 'secret' },
    logger: Object.assign({}, console, logger),
  });
});

describe('a built module in the plain Extism SDK', () => {
  it('describes its tools with the schemas of their types', async () => {
    const { tools } = JSON.parse(await sdk.call('describe', ''));
    expect(tools).toHaveLength(15);
    expect(tools.find(({ name }: { name: string }) => name === 'echo')).toMatchObject({
      description: 'Says it again.',
      inputSchema: { type: 'object', required: ['value'] },
    });
  });

  it('calls a tool by its export and by call, with the same output', async () => {
    const args = { value: { text: 'Grüße, 世界 😀', list: [1, null, true] } };
    expect(await sdk.tool('echo', args)).toEqual(args.value);
    const answer = JSON.parse(await sdk.call('call', JSON.stringify({ params: { name: 'echo', arguments: args } })));
    expect(answer.content).toHaveLength(1);
    expect(JSON.parse(answer.content[0].text)).toEqual(args.value);
  });

  it('leaves text as text, and quotes it where it would be read as something else', async () => {
    expect(await sdk.call('echo', '{"value":"plain"}')).toBe('plain');
    expect(await sdk.call('echo', '{"value":"5"}')).toBe('"5"');
    expect(await sdk.call('echo', '{}')).toBe('null');
  });

  it('starts every call from the same memory', async () => {
    expect(await sdk.tool('count')).toEqual({ calls: 1, places: 1 });
    expect(await sdk.tool('count')).toEqual({ calls: 1, places: 1 });
  });

  it('draws other random numbers in every call, and knows the time', async () => {
    const drawn = [await sdk.tool('random'), await sdk.tool('random')].flat();
    expect(new Set(drawn.filter((each) => typeof each !== 'number' || each < 1)).size).toBe(6);
    const before = Date.now();
    const { now, year } = Object(await sdk.tool('time'));
    expect(now).toBeGreaterThanOrEqual(before - 1);
    expect(year).toBe(new Date().getUTCFullYear());
  });

  it('runs timers in the order of their time', async () => {
    expect(await sdk.tool('waits')).toEqual(['20', '100', '50', '300']);
  });

  it('has the web API without a host behind it', async () => {
    expect(await sdk.tool('web')).toEqual({
      url: 'https://user@xn--exmple-cua.com:8443/b?q=%C3%A4#x',
      query: [
        ['a', '1'],
        ['a', '2'],
        ['b', 'é'],
      ],
      utf8: [195, 164, 226, 130, 172, 240, 159, 152, 128],
      text: '😀\ufffd\ufffd',
      base64: 'aORsbG8=',
      back: 'hällo',
      digest: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      cloned: [1],
      blob: 'abc',
      response: { a: 1 },
      number: '1,234,567.5',
      sorted: ['a', 'á', 'b', 'B'],
    });
  });

  it('reads its settings from the config of the host', async () => {
    expect(await sdk.tool('settings')).toEqual(['hello', 'secret', 'else']);
  });

  it('keeps values in the variables of the host', async () => {
    expect(await sdk.tool('keeps')).toEqual({
      b: { deep: [1] },
      none: null,
      list: { items: [{ key: 'a', value: 2 }], next: 'a' },
    });
  });

  it('logs to the log of the host', async () => {
    expect(await sdk.tool('logs')).toBe(null);
    expect(logged).toEqual(['warn: careful { a: 1 }', 'info: plain']);
  });
});

describe('a call of a built module that fails', () => {
  it('ends as an error of Extism with the place in the file of the plugin', async () => {
    await expect(sdk.tool('fails', { how: 'throws' })).rejects.toThrow(
      /TypeError: no such luck\n {4}at fail \(portable\.ts:7:\d+\)/,
    );
    await expect(sdk.tool('fails', { how: 'reads', list: [] })).rejects.toThrow(/portable\.ts:9:\d+/);
    await expect(sdk.call('call', '{"params":{"name":"fails","arguments":{"how":"throws"}}}')).rejects.toThrow(/no such luck/);
  });

  it.each([
    ['files', 'context.files.read'],
    ['tools', 'context.tools.call'],
    ['llm', 'context.llm.generate'],
    ['run', 'context.run'],
    ['confirm', 'context.confirm'],
    ['skill', 'context.skill'],
    ['agent', 'context.agent.pushTask'],
    ['intl', 'Intl'],
  ])('names what needs a daemon: %s', async (member, name) => {
    await expect(sdk.tool('refused', { member })).rejects.toThrow(`${name} is not part of a built module`);
  });

  it('says that a promise cannot settle', async () => {
    await expect(sdk.tool('never')).rejects.toThrow('waits for something that never comes');
  });

  it('says what is wrong with arguments and names', async () => {
    await expect(sdk.call('echo', 'not json')).rejects.toThrow('Expected the arguments of the tool as JSON');
    await expect(sdk.call('call', '{"params":{"name":"nobody"}}')).rejects.toThrow(/no such tool; there are count, echo/);
  });

  it('can catch a recursion that is too deep, and leaves nothing to the next call', async () => {
    expect(await sdk.tool('deep')).toContain('Maximum call stack size exceeded');
    await expect(sdk.call('echo', '['.repeat(200_000))).rejects.toThrow();
    expect(await sdk.tool('count')).toEqual({ calls: 1, places: 1 });
  });
});

describe('the memory of a built module', () => {
  it('does not grow with the number of calls', async () => {
    const { exports } = await sdk.plugin.getInstance().then((instance) => Object(instance));
    expect(await sdk.tool('big')).toBe(16);
    const bytes = exports.memory.buffer.byteLength;
    for (let round = 0; round < 20; round++) expect(await sdk.tool('big')).toBe(16);
    expect(exports.memory.buffer.byteLength).toBe(bytes);
  });

  it('exports nothing but its memory and its entries', () => {
    const names = WebAssembly.Module.exports(new WebAssembly.Module(new Uint8Array(module))).map(({ name }) => name);
    expect(names.slice(0, 3)).toEqual(['memory', 'describe', 'call']);
    expect(names).toContain('tool.call');
    expect(names).toHaveLength(3 + 15);
  });

  it('is the same byte for byte when the same source is built again', async () => {
    expect(Buffer.from(moduleOf(await buildText('portable.ts', source))).equals(module)).toBe(true);
  });
});
