import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { definePlugin, defineTool } from '../src/plugin.ts';

// The types are the point: `npm run check` fails when `args` is not what the parameters say.
describe('definePlugin', () => {
  it('returns the plugin, with args typed by a JSON Schema', () => {
    const plugin = definePlugin({
      parameters: {
        type: 'object',
        properties: {
          city: { type: 'string' },
          days: { type: 'integer' },
          unit: { enum: ['C', 'F'] },
          tags: { type: 'array', items: { type: 'string' } },
        },
        required: ['city', 'unit'],
      },
      handler: ({ city, days, unit, tags }) => {
        const typed: { city: string; days: number | undefined; unit: 'C' | 'F'; tags: string[] | undefined } = {
          city,
          days,
          unit,
          tags,
        };
        return typed;
      },
    });
    expect(plugin.parameters?.required).toEqual(['city', 'unit']);
  });

  it('types args by a Standard Schema', () => {
    const schema = z.object({ amount: z.number(), note: z.string().default('') });
    const plugin = definePlugin({
      parameters: schema,
      handler: (args) => {
        const typed: { amount: number; note?: string | undefined } = args;
        return typed;
      },
    });
    expect(plugin.parameters).toBe(schema);
  });

  it('takes the annotation of a handler without parameters', () => {
    const handler = (args: { name: string }) => args.name;
    expect(definePlugin({ handler }).handler).toBe(handler);
  });
});

describe('definePlugin of prompts and resources', () => {
  it('types what their functions get and return', () => {
    const plugin = definePlugin({
      prompts: {
        greet: { arguments: { name: { required: true, complete: (value) => [value] } }, handler: ({ name }) => `Hello ${name}` },
      },
      resources: { all: { uri: 'notes://all', read: (_params, context) => context.caller.id } },
    });
    expect(Object.keys(plugin.prompts)).toEqual(['greet']);
    // @ts-expect-error a prompt returns messages
    definePlugin({ prompts: { odd: { handler: () => 42 } } });
  });
});

describe('defineTool', () => {
  it('types the tools of a plugin one by one', () => {
    const double = defineTool({
      parameters: { type: 'object', properties: { value: { type: 'number' } }, required: ['value'] },
      handler: ({ value }) => value * 2,
    });
    const plugin = definePlugin({ name: 'numbers', tools: { double } });
    expect(plugin.tools.double).toBe(double);
  });
});
