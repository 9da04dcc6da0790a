import { describe, expect, it } from 'vitest';
import { parseUsageToSchema } from '../../../src/plugins/schema/usage.ts';

describe('parseUsageToSchema', () => {
  it.each<[string, unknown]>([
    ['web_search(query)', { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] }],
    ['now()', { type: 'object', properties: {} }],
    [
      'telegram_send_poll(chatId, question, options:array, isAnonymous?:boolean)',
      {
        type: 'object',
        properties: {
          chatId: { type: 'string' },
          question: { type: 'string' },
          options: { type: 'array' },
          isAnonymous: { type: 'boolean' },
        },
        required: ['chatId', 'question', 'options'],
      },
    ],
    [
      'rag({content, source?, meta:object}, limit = 5, [tag])',
      {
        type: 'object',
        properties: {
          content: { type: 'string' },
          source: { type: 'string' },
          meta: { type: 'object' },
          limit: { type: 'string', default: 5 },
          tag: { type: 'string' },
        },
        required: ['content', 'meta'],
      },
    ],
    [
      `f(a: number[], unit: 'c' | 'f', opt?: {x: number, y})`,
      {
        type: 'object',
        properties: {
          a: { type: 'array', items: { type: 'number' } },
          unit: { type: 'string', enum: ['c', 'f'] },
          opt: { type: 'object', properties: { x: { type: 'number' }, y: { type: 'string' } } },
        },
        required: ['a', 'unit'],
      },
    ],
  ])('reads %s', (usage, schema) => {
    expect(parseUsageToSchema(usage)).toEqual(schema);
  });

  it.each([[''], ['weather'], ['weather(city'], ['just text']])('leaves %j', (usage) => {
    expect(parseUsageToSchema(usage)).toBeUndefined();
  });

  it('leaves out what is no name', () => {
    expect(parseUsageToSchema('f(__proto__, 1, "ok", -)')).toEqual({
      type: 'object',
      properties: { ok: { type: 'string' } },
      required: ['ok'],
    });
  });
});
