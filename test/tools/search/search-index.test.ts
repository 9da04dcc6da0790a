import { describe, expect, it } from 'vitest';
import { createSearchIndex } from '../../../src/tools/search/search-index.ts';
import type { ToolEntry } from '../../../src/tools/tool-types.ts';
import { makeEntry } from '../make-entry.ts';

const tools = [
  makeEntry({ name: 'weather', description: 'Current weather and forecast for a city.', tags: ['forecast'] }),
  makeEntry({
    name: 'unit_convert',
    description: 'Converts lengths, weights and temperatures.',
    input: { type: 'object', properties: { amount: { type: 'number' }, unit: { enum: ['celsius', 'fahrenheit'] } } },
  }),
  makeEntry({ name: 'sendMail', description: 'Sends a letter to somebody.', tags: ['email'] }),
  makeEntry({ name: 'translate', description: '把文字翻译成其他语言' }),
  makeEntry({ name: 'text_stats', description: 'Counts words, sentences and characters of a text.' }),
];
const index = createSearchIndex();
async function find(text: string, seen: readonly ToolEntry[] = tools, limit = 10): Promise<string[]> {
  const found = await index.search(seen, { text, limit, seen });
  return found.tools.map(({ name }) => name);
}

describe('createSearchIndex', () => {
  it('finds by name, words of the description, tags and arguments, the best first', async () => {
    expect((await find('weather in a city'))[0]).toBe('weather');
    expect((await find('convert temperature'))[0]).toBe('unit_convert');
    expect(await find('fahrenheit')).toEqual(['unit_convert']);
    expect(await find('email')).toEqual(['sendMail']);
    expect((await find('send mail'))[0]).toBe('sendMail');
    expect(await find('翻译')).toEqual(['translate']);
  });

  it('knows other endings of a word, the beginning of one, and a misspelled name', async () => {
    expect(await find('converting')).toEqual(['unit_convert']);
    expect((await find('counting sentence'))[0]).toBe('text_stats');
    expect(await find('fahren')).toEqual(['unit_convert']);
    expect(await find('wheather')).toEqual(['weather']);
  });

  it('puts the tool first whose name was written', async () => {
    const shadow = makeEntry({ name: 'weather_weather_weather', description: 'weather weather weather weather' });
    expect((await find('Weather', [shadow, ...tools]))[0]).toBe('weather');
    expect((await find('weather@1.0.0', [shadow, ...tools]))[0]).toBe('weather');
  });

  it('finds nothing for what nobody wrote, signs, and among no tools', async () => {
    expect(await Promise.all([find('zzzzqqqq'), find('!!! ...'), find(' '), find('weather', [])])).toEqual([[], [], [], []]);
  });

  it('takes a query of any length and any signs, and counts its beginning alone', async () => {
    const hostile = [
      'a'.repeat(1_000_000),
      '('.repeat(100_000),
      '\ud800\u202e\u0000',
      'e\u0301'.repeat(50_000),
      'weather '.repeat(90_000),
    ];
    for (const query of hostile) expect((await find(query)).length).toBeLessThanOrEqual(tools.length);
    expect(await find(`${'x '.repeat(600)}weather`)).not.toContain('weather');
  });

  it('answers the same for the same tools in another order, and counts tools that are not seen nowhere', async () => {
    const query = 'a text of a city with words';
    const wanted = await find(query);
    expect(await find(query, tools.toReversed())).toEqual(wanted);
    const hidden = Array.from({ length: 50 }, (_, at) => makeEntry({ name: `city_${at}`, description: 'city city of words' }));
    const { tools: found, total } = await index.search([...hidden, ...tools], { text: query, limit: 10, seen: tools });
    expect(found.map(({ name }) => name)).toEqual(wanted);
    expect(total).toBe(wanted.length);
  });

  it('follows tools that come and go, and answers no more than it is asked for', async () => {
    const own = createSearchIndex();
    for (let round = 10; round < 30; round++) {
      const now = Array.from({ length: 60 }, (_, at) => makeEntry({ name: `tool_${at}`, description: `round${round} mail` }));
      const { tools: found, total } = await own.search(now, { text: `round${round}`, limit: 7, seen: now });
      expect([found.length, total]).toEqual([7, 60]);
      expect((await own.search(now, { text: `round${round - 1}`, limit: 7, seen: now })).total).toBe(0);
    }
  });

  it('reads every tool once, however often is searched and whatever else comes and goes', async () => {
    let reads = 0;
    const counted = (name: string): ToolEntry => {
      const entry = makeEntry({ name, description: '' });
      const manifest = Object.defineProperty({ ...entry.manifest }, 'description', {
        get() {
          reads += 1;
          return `mail of ${name}`;
        },
      });
      return { ...entry, manifest };
    };
    const own = createSearchIndex();
    const steady = Array.from({ length: 300 }, (_, at) => counted(`steady_${at}`));
    for (let round = 0; round < 20; round++) {
      // Those that go make more than half of the index in the end: it is tidied up, and nothing is read for that.
      const all = [...steady, ...Array.from({ length: 100 }, (_, at) => counted(`round${round}x${at}`))];
      for (const text of ['mail', 'steady', 'stedy_7', 'nothing']) await own.search(all, { text, limit: 5, seen: all });
      expect(reads).toBe(300 + 100 * (round + 1));
      expect((await own.search(all, { text: `round${round}x7`, limit: 5, seen: all })).tools[0]?.name).toBe(`round${round}x7`);
      expect((await own.search(all, { text: 'steady', limit: 5, seen: all })).total).toBe(300);
    }
  });
});
