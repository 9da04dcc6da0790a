import { describe, expect, it } from 'vitest';
import { chooseInterpreter } from '../../src/skills/interpreter.ts';

describe('chooseInterpreter', () => {
  it.each<[string, string, string, string[]]>([
    ['run.py', 'print(1)', 'python3', []],
    ['run.mjs', '', 'node', []],
    ['run.ts', '', 'node', []],
    ['run.SH', '', 'sh', []],
    ['run', '#!/usr/bin/env python\n', 'python3', []],
    ['run', '#!/usr/bin/env -S python3 -u -O\n', 'python3', ['-u', '-O']],
    ['run', '#! /bin/bash -e\r\necho', 'bash', ['-e']],
    ['run.py', '#!/usr/local/bin/node\n', 'node', []],
    ['run.py', '#!/opt/../evil/ruby', 'ruby', []],
  ])('has %s with %j read by %s', (name, text, command, args) => {
    expect(chooseInterpreter(name, Buffer.from(text))).toEqual({ ok: true, command, args });
  });

  it.each([
    ['data.bin', 'nothing'],
    ['run', 'echo'],
    ['run.constructor', ''],
    ['.py.', ''],
    ['run.sh', '#!\n'],
    ['run.sh', '#!/usr/bin/env\n'],
    ['run.sh', '#!/bin/$(id)\n'],
    ['run.sh', `#!/bin/${'x'.repeat(400)}\n`],
    ['run.py', '\u007fELF\u0002\u0001'],
  ])('says why nothing reads %s with %j', (name, text) => {
    const chosen = chooseInterpreter(name, Buffer.from(text, 'latin1'));
    expect(chosen.ok).toBe(false);
    if (!chosen.ok) expect(chosen.reason).toMatch(/\.$/);
  });
});
