import { Type } from 'typebox';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { definePlugin, defineTool } from '../src/plugin.ts';

// The types are checked by `npm run check`; running shows that both functions return what they are given.
describe('definePlugin and defineTool', () => {
  it('type args from a JSON Schema', () => {
    const tool = defineTool({
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' }, unit: { enum: ['c', 'f'] }, days: { type: 'array', items: { type: 'integer' } } },
        required: ['city'],
      },
      handler(args) {
        expectTypeOf(args).toEqualTypeOf<{ city: string; unit?: 'c' | 'f'; days?: number[] }>();
        return args.city;
      },
    });
    expect(tool.parameters?.required).toEqual(['city']);
  });

  it('type args from zod', () => {
    const parameters = z.object({ city: z.string(), days: z.number().optional() });
    const plugin = definePlugin({
      name: 'weather',
      parameters,
      handler(args, context) {
        expectTypeOf(args).toEqualTypeOf<{ city: string; days?: number | undefined }>();
        expectTypeOf(context.config.get('x')).toBeUnknown();
        return args.city;
      },
    });
    expect(plugin.parameters).toBe(parameters);
  });

  it('type args from TypeBox', () => {
    definePlugin({
      parameters: Type.Object({ city: Type.String(), days: Type.Optional(Type.Number()) }),
      handler(args) {
        expectTypeOf(args.city).toEqualTypeOf<string>();
        expectTypeOf(args.days).toEqualTypeOf<number | undefined>();
      },
    });
  });

  it('leave args to the handler without parameters', () => {
    const plugin = definePlugin({ handler: (args: { city: string }) => args.city });
    expect(plugin.handler).toBeTypeOf('function');
  });
});
