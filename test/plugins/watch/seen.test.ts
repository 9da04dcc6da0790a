import { linkSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { BuildInput } from '../../../src/plugins/generations/generation.ts';
import {
  compareInputs,
  inputsMatch,
  readBuildInput,
  readSignature,
  wasRenamedIntoPlace,
} from '../../../src/plugins/watch/seen.ts';
import { makeFolder } from '../rig/supervisor-rig.ts';

function makeInput(text = 'one'): BuildInput {
  const path = join(makeFolder(), 'a.ts');
  writeFileSync(path, text);
  const input = readBuildInput(path);
  if (!input) throw new Error('The file was just written.');
  return input;
}

describe('compareInputs', () => {
  it('sees nothing where nothing happened', () => {
    const input = makeInput();
    expect(compareInputs([input], { deep: false })).toEqual({ kind: 'same' });
    expect(compareInputs([input], { deep: true })).toEqual({ kind: 'same' });
  });

  it('sees a change that keeps size and time', () => {
    const input = makeInput();
    const { atime, mtime } = statSync(input.path);
    writeFileSync(input.path, 'two');
    utimesSync(input.path, atime, mtime);
    expect(compareInputs([input], { deep: false })).toEqual({ kind: 'changed' });
  });

  it('tells a touch from a change', () => {
    const input = makeInput();
    utimesSync(input.path, 1, 1);
    const comparison = compareInputs([input], { deep: false });
    expect(comparison).toMatchObject({ kind: 'touched', inputs: [{ sha256: input.sha256 }] });
    if (comparison.kind === 'touched') expect(compareInputs(comparison.inputs, { deep: false })).toEqual({ kind: 'same' });
  });

  it('reads the file when asked to, whatever its signature says', () => {
    const input = makeInput();
    writeFileSync(input.path, 'two');
    const disguised = { ...input, signature: readSignature(input.path) ?? '' };
    expect(compareInputs([disguised], { deep: false })).toEqual({ kind: 'same' });
    expect(compareInputs([disguised], { deep: true })).toEqual({ kind: 'changed' });
  });

  it('takes a file that is gone for a change', () => {
    const input = makeInput();
    rmSync(input.path);
    expect(compareInputs([input], { deep: false })).toEqual({ kind: 'changed' });
    expect(inputsMatch([input])).toBe(false);
    expect(inputsMatch([])).toBe(false);
  });
});

describe('wasRenamedIntoPlace', () => {
  it('believes a rename of a file that was written before', () => {
    const input = makeInput();
    const part = `${input.path}.part`;
    writeFileSync(part, 'two');
    utimesSync(part, 1, 1);
    renameSync(part, input.path);
    expect(wasRenamedIntoPlace(input.signature, readSignature(input.path) ?? '')).toBe(true);
  });

  it('does not believe a file that is written in place or was only just created', () => {
    const input = makeInput();
    writeFileSync(input.path, 'two');
    expect(wasRenamedIntoPlace(input.signature, readSignature(input.path) ?? '')).toBe(false);
    const fresh = readSignature(makeInput('new').path) ?? '';
    expect(wasRenamedIntoPlace(undefined, fresh)).toBe(false);
    linkSync(input.path, `${input.path}.link`);
    expect(wasRenamedIntoPlace(input.signature, readSignature(input.path) ?? '')).toBe(false);
  });
});
