import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import { startSmallDaemon } from '../small-daemon.ts';

const engines = ['quickjs', 'deno'];
const root = fileURLToPath(new URL('../..', import.meta.url));

/** The same parameters in the words of each library: a trimmed name, a number in a text, a list with a default, a nested default. */
const dialects: Record<string, string> = {
  zod4: `import { z } from 'zod';
    const parameters = z.object({ name: z.string().trim().min(2), days: z.coerce.number().int(), tags: z.array(z.string()).default(['x']), at: z.object({ unit: z.string().default('km') }).default({ unit: 'km' }) });
    const failing = z.object({ n: z.number().refine(async (n) => n > 1, 'must be more than 1') });
    const output = z.object({ sum: z.number(), at: z.string().default('now') });`,
  zod3: `import { z } from 'zod/v3';
    const parameters = z.object({ name: z.string().trim().min(2), days: z.coerce.number().int(), tags: z.array(z.string()).default(['x']), at: z.object({ unit: z.string().default('km') }).default({}) });
    const failing = z.object({ n: z.number().refine(async (n) => n > 1, 'must be more than 1') });
    const output = z.object({ sum: z.number(), at: z.string().default('now') });`,
  valibot: `import * as v from 'valibot';
    const parameters = v.object({ name: v.pipe(v.string(), v.trim(), v.minLength(2)), days: v.pipe(v.union([v.string(), v.number()]), v.transform(Number), v.number(), v.integer()), tags: v.optional(v.array(v.string()), ['x']), at: v.optional(v.object({ unit: v.optional(v.string(), 'km') }), {}) });
    const failing = v.objectAsync({ n: v.pipeAsync(v.number(), v.checkAsync(async (n) => n > 1, 'must be more than 1')) });
    const output = v.object({ sum: v.number(), at: v.optional(v.string(), 'now') });`,
  arktype: `import { type } from 'arktype';
    const parameters = type({ name: 'string.trim |> string >= 2', days: ['string | number', '=>', Number], tags: type('string[]').default(() => ['x']), at: type({ unit: "string = 'km'" }).default(() => ({ unit: 'km' })) });
    const failing = { '~standard': { version: 1, vendor: 'own', validate: async (value) => value.n > 1 ? { value } : { issues: [{ message: 'must be more than 1', path: [{ key: 'n' }] }] } } };
    const output = type({ sum: 'number', at: "string = 'now'" });`,
};

const plugin = `
  export default {
    version: '1.0.0',
    tools: {
      show: { description: 'Shows what it gets.', parameters, idempotent: true, retries: 2, handler: async (args) => args, examples: [{ args: { name: ' ab ', days: '3' } }] },
      later: { description: 'Checks in its own time.', parameters: failing, handler: async (args) => args },
      answers: { description: 'Answers.', output, handler: async ({ sum }) => ({ sum }) },
    },
  };`;

/** A package as one file beside the plugins. */
async function bundle(name: string): Promise<string> {
  const result = await build({
    stdin: { contents: `export * from '${name}';`, resolveDir: root },
    bundle: true,
    write: false,
    format: 'esm',
    minify: true,
    logLevel: 'silent',
  });
  return result.outputFiles[0]?.text ?? '';
}

let house: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  const files: Record<string, string> = {};
  for (const [name, text] of Object.entries(dialects)) {
    const [, library = ''] = /from '([^']+)'/.exec(text) ?? [];
    files[`_${name}.js`] = await bundle(library);
    for (const engine of engines) {
      const tools = plugin
        .replace(/^ {6}(\w+):/gm, `      $1_${name}_${engine}:`)
        .replace('version:', `engine: '${engine}', version:`);
      files[`${name}-${engine}.ts`] = text.replace(`'${library}'`, `'./_${name}.js'`) + tools;
    }
  }
  house = await startSmallDaemon(files);
});
afterAll(() => house.close());

const cases = Object.keys(dialects).flatMap((name) => engines.map((engine) => [name, engine] as const));

describe.each(cases)('parameters of %s on %s', (name, engine) => {
  const call = (tool: string, args: unknown, more = {}) => house.call(`${tool}_${name}_${engine}`, args, more);

  it('hand the handler what the schema makes of the arguments', async () => {
    expect(await call('show', { name: '  Ann ', days: '3' })).toMatchObject({
      status: 'success',
      output: { name: 'Ann', days: 3, tags: ['x'], at: { unit: 'km' } },
    });
  });

  it('are refused as arguments, with every place', async () => {
    const error = await call('show', { name: ' a ', days: 1, tags: ['ok', 7] }, { idempotencyKey: 'k' }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(HotcellError);
    expect(error).toMatchObject({
      code: 'arguments-invalid',
      status: 400,
      message: expect.stringContaining(`The arguments do not fit show_${name}_${engine}@1.0.0: `),
      facts: {
        executionId: expect.any(String),
        issues: expect.arrayContaining([expect.objectContaining({ path: 'tags[1]', got: 'the number 7' })]),
      },
    });
    // The key is free again, as after a refusal before the call.
    expect(await call('show', { name: 'Ann', days: 1 }, { idempotencyKey: 'k' })).toMatchObject({ status: 'success' });
  });

  it('may take their time', async () => {
    expect(await call('later', { n: 2 })).toMatchObject({ output: { n: 2 } });
    await expect(call('later', { n: 1 })).rejects.toMatchObject({
      code: 'arguments-invalid',
      message: expect.stringContaining('n: must be more than 1'),
    });
  });

  it('check and complete the output', async () => {
    expect(await call('answers', { sum: 3 })).toMatchObject({ output: { sum: 3, at: 'now' } });
    expect(await call('answers', { sum: 'x' })).toMatchObject({
      status: 'error',
      error: { code: 'output-invalid', message: expect.stringContaining('sum') },
    });
  });

  it('are described by what goes in', async () => {
    const { input } = house.parts.tools.resolve(`show_${name}_${engine}`).manifest;
    expect(input).toMatchObject({ type: 'object', properties: { name: {}, days: {}, tags: {}, at: {} } });
    expect(input.required).toEqual(expect.arrayContaining(['name']));
    expect(input.required).not.toEqual(expect.arrayContaining(['tags']));
    expect(JSON.stringify(input)).not.toContain('$standardSchema');
  });
});
