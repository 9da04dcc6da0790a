import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeDocker, testImages } from '../engines/process/docker/docker-machine.ts';
import { type HookHouse, hookText, openHookHouse } from './hook-house.ts';

/** Files of a hook that is a script. */
function script(events: string, text: string, matter = ''): Readonly<Record<string, string>> {
  return { 'HOOK.md': hookText(`events: ${events}\ntimeoutMs: 30000\n${matter}`), 'handler.sh': text };
}

describeDocker('createShellEngine', () => {
  let house: HookHouse;
  beforeAll(async () => {
    house = await openHookHouse(
      {},
      {
        settings: {
          docker: { images: [testImages.box, testImages.python], commands: { sh: testImages.box } },
          env: { WORD: 'bad' },
        },
      },
    );
  });
  afterAll(() => house.close());

  /** Does something while only this hook is there. */
  async function withHook<Result>(
    name: string,
    files: Readonly<Record<string, string>>,
    act: () => Promise<Result>,
  ): Promise<Result> {
    house.write(name, files);
    expect(await house.approve(name)).toMatchObject({ state: 'active' });
    try {
      return await act();
    } finally {
      house.parts.hooks.revoke(name, 'local');
      house.remove(name);
    }
  }

  it('lets a call pass with exit code 0, and keeps what the script said as its log', async () => {
    const files = script('["tool:before"]', 'echo "$1"\ncat words.txt >&2\n', '');
    await withHook('pass', { ...files, 'words.txt': 'a file of the hook' }, async () => {
      expect((await house.call('echo', { text: 'x' })).output).toEqual({ text: 'x' });
    });
    const [run] = house.runs('pass');
    expect(run?.status).toBe('success');
    const lines = house.events.filter(({ type, subject }) => type === 'execution-log' && subject === run?.id);
    expect(lines.map(({ data }) => data)).toMatchObject([{ text: 'tool:before' }, { text: 'a file of the hook' }]);
  });

  it('stops a call with exit code 2 and the reason on standard error', async () => {
    const text = 'if grep -q \'"text":"bad"\'; then echo "not this word" >&2; exit 2; fi\n';
    await withHook('veto', script('[tool]', text), async () => {
      expect(await house.refusal({ text: 'bad' })).toMatchObject({
        code: 'hook-refused',
        message: 'The hook "veto" refused this call of echo: not this word',
      });
      expect((await house.call('echo', { text: 'good' })).status).toBe('success');
    });
  });

  it('stops a call with JSON that nests deeply, in words', async () => {
    const text = 'printf \'{"arguments":\'; i=0; while [ $i -lt 6000 ]; do printf "["; i=$((i+1)); done\n';
    await withHook('deep', script('["tool:before"]', text), async () => {
      expect(await house.refusal({ text: 'x' })).toMatchObject({ message: expect.stringContaining('output-invalid') });
    });
    const message = expect.stringContaining('nests deeper than 520 levels');
    expect(house.runs('deep')[0]).toMatchObject({ error: { code: 'output-invalid', message } });
  });

  it('changes a call with JSON on standard output', async () => {
    await withHook('change', script('["tool:before"]', 'printf \'{"arguments":{"text":"changed"}}\'\n'), async () => {
      expect((await house.call('echo', { text: 'x' })).output).toEqual({ text: 'changed' });
    });
  });

  it.each([
    ['another exit code', 'exit 3', '', 'failed (handler-threw)'],
    ['broken JSON', 'printf \'{"arguments": \'', '', 'failed (output-invalid)'],
    ['JSON that is no answer', 'printf \'{"vetoed": 1}\'', '', 'neither a veto nor arguments'],
    ['too little time', 'sleep 60', '', 'did not answer within 3000 ms'],
  ])('stops the call with %s', async (what, text, matter, said) => {
    const files = script('["tool:before"]', `${text}\n`, matter);
    const slow = { ...files, 'HOOK.md': files['HOOK.md']?.replace('30000', said.includes('3000 ms') ? '3000' : '30000') ?? '' };
    const refusal = await withHook(what.replaceAll(' ', '-'), slow, () => house.refusal({ text: 'x' }));
    expect(refusal).toMatchObject({ code: 'hook-failed', message: expect.stringContaining(said) });
  });

  it('cannot run in an image that the config does not allow', async () => {
    house.write('foreign', script('["tool:before"]', 'exit 0\n', 'image: somebody/else:1'));
    expect(await house.approve('foreign')).toMatchObject({ state: 'failed', problem: expect.stringContaining('not allowed') });
    const refusal = await house.refusal({ text: 'x' });
    house.remove('foreign');
    expect(refusal).toMatchObject({ code: 'hook-failed', message: expect.stringContaining('cannot run (image-refused)') });
  });

  it('gives the environment that was approved, and no other', async () => {
    const text = 'echo "word=$WORD home=$HOME other=$HOTCELL_TOKEN" >&2; exit 2\n';
    const granted = script('["tool:before"]', text, 'permissions: { env: [WORD] }');
    expect(await withHook('env', granted, () => house.refusal({ text: 'x' }))).toMatchObject({
      message: expect.stringContaining('word=bad home=/tmp other='),
    });
    expect(await withHook('no-env', script('["tool:before"]', text), () => house.refusal({ text: 'x' }))).toMatchObject({
      message: expect.stringContaining('word= home=/tmp'),
    });
  });

  it('reaches the hosts that were approved through the daemon, and without them has no network at all', async () => {
    const server = createServer((_request, response) => response.end('hello from the machine'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    // Python takes the proxy from its environment, as most programs do.
    const program = {
      'fetch.py': `import sys, urllib.request
try:
    print(urllib.request.urlopen('http://127.0.0.1:${port}/', timeout=5).read().decode(), file=sys.stderr)
except Exception as error:
    print('refused:', error, file=sys.stderr)
`,
    };
    const text = 'python3 fetch.py; exit 2\n';
    const inPython = `image: ${testImages.python}`;
    try {
      const granted = script('["tool:before"]', text, `${inPython}\npermissions: { net: ["127.0.0.1:${port}"] }`);
      const reached = await withHook('net', { ...granted, ...program }, () => house.refusal({ text: 'x' }));
      expect(reached).toMatchObject({ code: 'hook-refused', message: expect.stringContaining('hello from the machine') });
      const none = { ...script('["tool:before"]', text, inPython), ...program };
      const refused = await withHook('no-net', none, () => house.refusal({ text: 'x' }));
      expect(refused).toMatchObject({ code: 'hook-refused', message: expect.stringContaining('refused: ') });
    } finally {
      server.close();
    }
  });
});
