import { describe, expect, it } from 'vitest';
import { createToolRegistry, type ToolsChange } from '../../src/tools/registry.ts';
import type { ServedUnit, Unit } from '../../src/units/unit.ts';
import { makeManifest } from './calling-house.ts';

function published(name: string, version: string, unitPath = `/plugins/${name}@${version}.ts`): ServedUnit {
  const manifest = makeManifest(name, { version });
  const program = { key: 'k', label: name, readCode: async () => '', readImage: async () => undefined, saveImage: () => {} };
  const unit: Unit = {
    kind: 'plugin',
    id: `${name}-${version}`,
    path: unitPath,
    author: 'operator',
    contentHash: '',
    manifest,
    runner: { by: 'engine', engine: 'quickjs', program, handsOver: false },
  };
  return { unit, granted: () => ({}), lease: () => () => {} };
}

function registryWith(...versions: string[]) {
  const changes: ToolsChange[] = [];
  const registry = createToolRegistry({ onChange: (change) => changes.push(change) });
  for (const version of versions) registry.publish(published('tool', version));
  return { registry, changes };
}

describe('createToolRegistry', () => {
  const { registry } = registryWith('1.0.0', '1.2.3', '2.0.0-rc.1', '0.2.5', '0.3.0');

  it.each([
    ['tool', '1.2.3'],
    ['tool@', '1.2.3'],
    ['tool@latest', '1.2.3'],
    ['tool@1.0.0', '1.0.0'],
    ['tool@=1.0.0', '1.0.0'],
    ['tool@v1.0.0', '1.0.0'],
    ['tool@^1', '1.2.3'],
    ['tool@~1.0', '1.0.0'],
    ['tool@1.x', '1.2.3'],
    ['tool@^0.2.1', '0.2.5'],
    ['tool@>=0.2 <0.3', '0.2.5'],
    ['tool@0.2 - 0.3', '0.3.0'],
    ['tool@<1 || >=1.2', '1.2.3'],
    ['tool@2.0.0-rc.1', '2.0.0-rc.1'],
    ['tool@>=2.0.0-rc.0', '2.0.0-rc.1'],
    ['tool@*', '1.2.3'],
  ])('resolves %s to %s', (ref, version) => {
    expect(registry.resolve(ref).version).toBe(version);
  });

  it('takes a prerelease for a bare name only when there is nothing else', () => {
    expect(registryWith('1.0.0-a', '1.0.0-b').registry.resolve('tool').version).toBe('1.0.0-b');
  });

  it('says what there is when a version does not fit', () => {
    const message = 'No version of the tool "tool" fits "^9". There is: 2.0.0-rc.1, 1.2.3, 1.0.0, 0.3.0, 0.2.5.';
    expect(() => registry.resolve('tool@^9')).toThrow(expect.objectContaining({ code: 'tool-unknown', message }));
    expect(() => registry.resolve('tool@one')).toThrow('"one" is neither a version nor a range.');
    expect(() => registry.resolve('x'.repeat(10_000))).toThrow(expect.objectContaining({ code: 'tool-unknown' }));
  });

  it('keeps scoped names whole', () => {
    const scoped = createToolRegistry();
    scoped.publish(published('@team/tool', '1.0.0', '/p'));
    expect([scoped.resolve('@team/tool').version, scoped.resolve('@team/tool@^1').version]).toEqual(['1.0.0', '1.0.0']);
  });

  it('replaces the tools of a plugin at once, and tells what changed', () => {
    const { registry: own, changes } = registryWith('1.0.0');
    own.resolve('tool@^1');
    own.publish(published('tool', '1.1.0', '/plugins/tool@1.0.0.ts'));
    expect(own.resolve('tool@^1').version).toBe('1.1.0');
    own.withdraw('/plugins/tool@1.0.0.ts');
    own.withdraw('/plugins/tool@1.0.0.ts');
    expect(() => own.resolve('tool')).toThrow('There is no tool "tool".');
    expect([own.list(), changes]).toEqual([
      [],
      [
        { added: ['tool@1.0.0'], removed: [], changed: [] },
        { added: ['tool@1.1.0'], removed: ['tool@1.0.0'], changed: [] },
        { added: [], removed: ['tool@1.1.0'], changed: [] },
      ],
    ]);
  });

  it('refuses a key that belongs to another plugin, and changes nothing', () => {
    const { registry: own, changes } = registryWith('1.0.0');
    const second = () => own.publish(published('tool', '1.0.0', '/plugins/copy.ts'));
    expect(second).toThrow('The tool "tool@1.0.0" of /plugins/copy.ts exists already: it belongs to /plugins/tool@1.0.0.ts.');
    expect([own.list().length, changes.length]).toEqual([1, 1]);
  });

  it('lists by name, highest version first', () => {
    expect(registry.list().map(({ version }) => version)).toEqual(['2.0.0-rc.1', '1.2.3', '1.0.0', '0.3.0', '0.2.5']);
  });
});
