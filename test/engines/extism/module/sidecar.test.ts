import { describe, expect, it } from 'vitest';
import { embedSidecar, listSidecarNames, readEmbeddedSidecar } from '../../../../src/engines/extism/module/sidecar.ts';
import { assemble } from '../wat-program.ts';

const module = await assemble('(module (func (export "run")))');
const embed = (text: string, file = 'a.json') => embedSidecar('a.wasm', module, { file, text });

describe('embedSidecar', () => {
  it('keeps a single tool as a plugin with one handler', () => {
    const sidecar = readEmbeddedSidecar(
      embed('{"name":"a","export":"run","config":{"k":"v","n":1},"parameters":{"type":"object"}}'),
    );
    expect(sidecar.exported).toEqual({
      name: 'a',
      parameters: { type: 'object' },
      engine: 'extism',
      handler: { $function: true },
    });
    expect([...sidecar.exportByHandler]).toEqual([['default', 'run']]);
    expect(sidecar.config).toEqual({ k: 'v', n: '1' });
  });

  it('keeps several tools, each served by the export of its name or the one it names', () => {
    const sidecar = readEmbeddedSidecar(embed('tools:\n  run: { description: Runs }\n  walk: { export: run }\n', 'a.yaml'));
    expect(sidecar.exported).toEqual({
      engine: 'extism',
      tools: { run: { description: 'Runs', handler: { $function: true } }, walk: { handler: { $function: true } } },
    });
    expect([...sidecar.exportByHandler]).toEqual([
      ['run', 'run'],
      ['walk', 'run'],
    ]);
  });

  it('takes a module that carries its manifest already', () => {
    const whole = embed('{"export":"run"}');
    expect(embedSidecar('b.wasm', whole, undefined)).toBe(whole);
  });

  it('tells what to write when there is no manifest at all', () => {
    expect(() => embedSidecar('a.wasm', module, undefined)).toThrow(/manifest beside a\.wasm/);
  });

  it.each([
    ['{', /cannot be read/],
    ['[]', /expected an object, and found a list/],
    ['{"name":"a"}', /"export"/],
    ['{"export":"run","tools":{}}', /either "export" or "tools"/],
    ['{"tools":{"run":1}}', /"tools\.run" as an object/],
    ['{"tools":{"run":{"export":1}}}', /"tools\.run\.export" as text/],
    ['{"export":"run","config":[]}', /"config" as an object/],
    [`{"export":"run","name":"${'x'.repeat(300_000)}"}`, /at most/],
  ])('refuses %.40s', (text, message) => {
    expect(() => embed(text)).toThrow(message);
  });

  it('refuses YAML that multiplies itself by aliases', () => {
    expect(() => embed('a: &a [1,1]\nb: [*a,*a]\nexport: run', 'a.yaml')).toThrow(/cannot be read/);
  });
});

describe('listSidecarNames', () => {
  it('puts JSON first', () => {
    expect(listSidecarNames('dir/count.wasm')).toEqual(['dir/count.json', 'dir/count.yaml', 'dir/count.yml']);
  });
});
