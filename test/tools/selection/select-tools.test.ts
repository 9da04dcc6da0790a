import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signalPoints } from '../../../src/tools/selection/score-tool.ts';
import { autoMaxTools, autoMinScore, type SelectionCandidate, selectTools } from '../../../src/tools/selection/select-tools.ts';

type Said = Partial<SelectionCandidate['manifest']> & { readonly name: string };

function tool({ name, description = '', tags = [] }: Said, mode: 'on' | 'auto' = 'auto', calls = 0): SelectionCandidate {
  return { manifest: { name, description, tags }, mode, calls };
}

function scoreOf(said: Said, text: string, more: { readonly background?: string; readonly provider?: string } = {}) {
  const { shown } = selectTools([tool(said, 'on')], { text, ...more }, { rules: [] });
  const [only] = shown;
  return Object.fromEntries([['score', only?.score], ...(only?.points ?? []).map(({ signal, points }) => [signal, points])]);
}

describe('selectTools', () => {
  it('gives the points of the table', () => {
    expect([autoMinScore, autoMaxTools]).toEqual([3, 5]);
    expect(scoreOf({ name: 'web_search' }, 'Please use web_search.')).toEqual({ score: 10, name: 6, 'name-word': 4 });
    expect(scoreOf({ name: 'web_search' }, 'search the web')).toEqual({ score: 4, 'name-word': 4 });
    expect(scoreOf({ name: 'x', tags: ['pdf', 'ocr'] }, 'read these PDFs')).toEqual({ score: 3, tag: 3 });
    expect(scoreOf({ name: 'x', description: 'Extracts text from a file, text by text.' }, 'the text of a file')).toEqual({
      score: 2,
      'description-word': 2,
    });
    expect(scoreOf({ name: 'mail_send', tags: ['weekly report'] }, '', { background: 'weekly mail' })).toEqual({
      score: 4,
      'background-name': 2,
      'background-tag': 2,
    });
    expect(scoreOf({ name: 'x', tags: ['provider:openai'] }, '', { provider: 'openai' })).toEqual({ score: 2, provider: 2 });
    expect(scoreOf({ name: 'x', tags: ['anthropic'] }, '', { provider: 'openai' })).toEqual({ score: -2, provider: -2 });
    expect(scoreOf({ name: 'x', tags: ['anthropic'] }, 'anthropic')).toEqual({ score: 0 });
  });

  it('takes a name verbatim only where it stands by itself, and no word that every text has', () => {
    expect(scoreOf({ name: 'run' }, 'running and rerun')).toEqual({ score: 0 });
    expect(scoreOf({ name: 'run' }, 'outrun, then run!')).toEqual({ score: 8, name: 6, 'name-word': 2 });
    expect(scoreOf({ name: 'to_do', description: 'This is for you and it.' }, 'what is this for you to do')).toEqual({
      score: 0,
    });
    expect(scoreOf({ name: 'getWeather' }, 'weather?')).toEqual({ score: 2, 'name-word': 2 });
    expect(scoreOf({ name: '天气预报' }, '明天天气预报')['name-word']).toBe(6);
  });

  it('shows all in mode on, and of the others the best five from three points on', () => {
    const auto = Array.from({ length: 9 }, (_, at) => tool({ name: `mail_${at}`, tags: ['mail'] }, 'auto', at % 3));
    const { shown, passedOver } = selectTools(
      [tool({ name: 'zoo' }, 'on'), tool({ name: 'dull' }), ...auto],
      { text: 'mail' },
      { rules: [] },
    );
    expect(shown.map(({ tool: { manifest }, why }) => [manifest.name, why])).toEqual([
      ['zoo', 'on'],
      ...['mail_2', 'mail_5', 'mail_8', 'mail_1', 'mail_4'].map((name) => [name, 'score']),
    ]);
    expect(passedOver.map(({ tool: { manifest } }) => manifest.name)).toEqual(['mail_7', 'mail_0', 'mail_3', 'mail_6', 'dull']);
  });

  it('puts first what an operator prefers for an intent', () => {
    const tools = ['web_search', 'browser_open', 'run_command', 'search_papers'].map((name) => tool({ name }));
    const rules = [
      { intent: 'search', preferSkills: ['browser_*', 'web_search'] },
      { intent: 'write code', preferSkills: ['run_command'] },
    ];
    const names = (text: string, limit?: number) =>
      selectTools(tools, { text }, { rules, limit }).shown.map(({ tool: { manifest }, why }) => `${manifest.name} ${why}`);
    expect(names('search papers')).toEqual(['browser_open preferred', 'web_search preferred', 'search_papers score']);
    expect(names('I am searching')).toEqual(['browser_open preferred', 'web_search preferred']);
    expect(names('write a code')).toEqual(['run_command preferred']);
    expect(names('write')).toEqual([]);
    expect(names('search papers', 1)).toEqual(['browser_open preferred']);
    expect(names('search papers', 0)).toEqual([]);
  });

  it('chooses what a naive reading of the table chooses', () => {
    const word = fc.constantFrom('mail', 'send', 'web', 'search', 'pdf', 'report', 'file', 'the', 'a', 'X', 'openai');
    const phrase = (max: number) => fc.array(word, { maxLength: max }).map((words) => words.join(' '));
    const candidate = fc
      .record({
        name: fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join('_')),
        description: phrase(6),
        tags: fc.array(fc.oneof(word, fc.constant('provider:anthropic')), { maxLength: 3 }),
        mode: fc.constantFrom('on' as const, 'auto' as const),
        calls: fc.integer({ min: 0, max: 3 }),
      })
      .map(({ mode, calls, ...said }) => tool(said, mode, calls));
    const request = fc.record({
      text: phrase(12),
      background: fc.option(phrase(4), { nil: undefined }),
      provider: fc.option(fc.constantFrom('openai', 'anthropic'), { nil: undefined }),
    });
    const uniqueCandidates = fc.uniqueArray(candidate, { maxLength: 14, selector: ({ manifest }) => manifest.name });
    fc.assert(
      fc.property(uniqueCandidates, request, (tools, asked) => {
        const wanted = selectNaively(tools, asked);
        const { shown } = selectTools(tools, asked, { rules: [] });
        expect(shown.map((each) => [each.tool.manifest.name, each.score])).toEqual(wanted);
      }),
      { numRuns: 500 },
    );
  });

  it('takes requests and tools of any length and any signs', () => {
    const hostile = ['a'.repeat(200_000), '('.repeat(200_000), '\ud800\u0000\u202e', 'é'.repeat(100_000), 'x_'.repeat(100_000)];
    const tools = hostile.map((text) => tool({ name: text.slice(0, 100), description: text, tags: [text] }));
    for (const text of hostile) {
      const { shown, passedOver } = selectTools(
        tools,
        { text, background: text, provider: text },
        { rules: [{ intent: text, preferSkills: ['*'] }] },
      );
      expect(shown.length + passedOver.length).toBe(tools.length);
    }
  });
});

/** The table once more, in other words: for ASCII texts, in which a name of one word or more stands between blanks. */
function selectNaively(
  tools: readonly SelectionCandidate[],
  { text, background, provider }: { text: string; background?: string | undefined; provider?: string | undefined },
): [string, number | undefined][] {
  const dull = ['the', 'a', 'x'];
  const split = (from: string) =>
    [...new Set(from.toLowerCase().split(/[ _:]+/))].filter((word) => word !== '' && !dull.includes(word));
  const isHint = (tag: string) => tag === 'openai' || tag === 'provider:anthropic';
  const score = ({ manifest: { name, description, tags } }: SelectionCandidate): number => {
    let sum = 0;
    if (` ${text.toLowerCase()} `.includes(` ${name.toLowerCase()} `)) sum += signalPoints.name;
    for (const word of split(name)) if (split(text).includes(word)) sum += 2;
    const own = [...new Set(tags.map((tag) => tag.toLowerCase()))];
    for (const tag of own) if (!isHint(tag) && tag.length > 1 && text.toLowerCase().includes(tag)) sum += 3;
    for (const word of split(description)) if (split(text).includes(word)) sum += 1;
    for (const word of split(name)) if (split(background ?? '').includes(word)) sum += 2;
    for (const word of split(own.filter((tag) => !isHint(tag)).join(' '))) if (split(background ?? '').includes(word)) sum += 2;
    const hints = own.filter(isHint).map((tag) => tag.replace('provider:', ''));
    if (provider !== undefined && hints.length > 0) sum += hints.includes(provider) ? 2 : -2;
    return sum;
  };
  const byName = (a: SelectionCandidate, b: SelectionCandidate) => (a.manifest.name < b.manifest.name ? -1 : 1);
  const on = tools.filter(({ mode }) => mode === 'on').toSorted(byName);
  const auto = tools
    .filter((each) => each.mode === 'auto' && score(each) >= 3)
    .toSorted((a, b) => score(b) - score(a) || b.calls - a.calls || byName(a, b));
  return [...on, ...auto.slice(0, 5)].map((each) => [each.manifest.name, score(each)]);
}
