import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { complete, startModelServer } from '../models/model-server.ts';
import { startSmallDaemon } from '../small-daemon.ts';
import { readBlocks, repository } from './markdown.ts';

const plugin = `export default {
  description: 'Adds two numbers.',
  handler: ({ a, b }: { a: number; b: number }) => a + b,
};`;

describe('the loops of docs/tools-for-models.md', () => {
  let rig: Awaited<ReturnType<typeof startSmallDaemon>>;
  let folder: string;

  beforeAll(async () => {
    rig = await startSmallDaemon({ 'add.ts': plugin }, {}, { listen: true });
    folder = mkdtempSync(join(tmpdir(), 'hotcell-loops-'));
    symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
    for (const { file, text } of readBlocks('docs/tools-for-models.md')) {
      if (file !== undefined) writeFileSync(join(folder, file), text);
    }
  });
  afterAll(async () => {
    await rig.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(['ask.mjs', 'agent.mjs'])('%s lets a model call tools until it has an answer', async (file) => {
    await using model = await startModelServer();
    model.next((_seen, response) => askFor(response, ['{"a":2}', '{"a":2,"b":40}']));
    model.next(({ body }, response) =>
      complete(response, JSON.stringify(body.messages?.slice(-2).map(({ content }) => content))),
    );
    const { stdout } = await promisify(execFile)(process.execPath, [file, 'How much is 2 and 40?'], {
      cwd: folder,
      env: {
        ...process.env,
        HOTCELL_URL: rig.daemon.url,
        HOTCELL_KEY: rig.daemon.token,
        MODEL_URL: model.baseUrl,
        MODEL_KEY: 'k',
        MODEL: 'm-1',
      },
    });
    const [refused, sum] = JSON.parse(stdout);
    expect(refused).toContain('b: expected a number');
    expect(sum).toBe('42');
    const { tools } = JSON.parse(JSON.stringify(model.seen[0]?.body));
    expect(tools).toContainEqual(
      expect.objectContaining({
        function: expect.objectContaining({
          name: 'add',
          description: 'Adds two numbers.',
          parameters: expect.objectContaining({ required: ['a', 'b'] }),
        }),
      }),
    );
  });
});

/** The answer of a model that wants the tool `add`, once for each of these arguments. */
function askFor(response: ServerResponse, argumentsOfCalls: readonly string[]): void {
  const calls = argumentsOfCalls.map((text, index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name: 'add', arguments: text },
  }));
  const message = { role: 'assistant', content: null, tool_calls: calls };
  const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ id: 'c1', object: 'chat.completion', created: 1, model: 'm-1', choices, usage }));
}
