import type { PermissionSet } from '../../../src/config/permission-set.ts';
import type { ErrorCode } from '../../../src/errors/catalog.ts';
import type { Step } from './subjects.ts';

/**
 * Every capability but the network as data: a step that is refused under one grant and carried out under another, whatever
 * the engine. `before` prepares what the step needs, and is done under the grant that allows it.
 */
export interface CapabilityCase {
  readonly what: string;
  readonly step: Step;
  readonly denied: PermissionSet;
  readonly code: ErrorCode;
  readonly allowed: PermissionSet;
  readonly before?: Step;
  /** A part of the answer's JSON under the grant that allows it. */
  readonly answers: string;
  readonly needs?: 'docker';
}

const all: PermissionSet = { read: ['.'], write: ['.'] };
const write = (path: string, text = 'text'): Step => ({ op: 'files.write', payload: { path, text } });
const at = (op: string, path: string): Step => ({ op: `files.${op}`, payload: { path } });
const denied = 'permission-denied';

const stored: readonly CapabilityCase[] = [
  { what: 'to keep a value', step: { op: 'kv.set', payload: { key: 'a', value: 1 } }, answers: 'null' },
  { what: 'to read a value', step: { op: 'kv.get', payload: { key: 'a' } }, answers: '1' },
  { what: 'to list values', step: { op: 'kv.list', payload: {} }, answers: '"key":"a"' },
  { what: 'to delete a value', step: { op: 'kv.delete', payload: { key: 'a' } }, answers: 'true' },
].map((each) => ({ ...each, denied: all, code: denied, allowed: { kv: true } }));

const bounded: readonly CapabilityCase[] = [
  {
    what: 'to keep more than the quota',
    step: { op: 'kv.set', payload: { key: 'large', value: 'v'.repeat(3000) } },
    denied: { kv: { quotaBytes: 2000 } },
    code: 'quota-exceeded',
    allowed: { kv: { quotaBytes: 20_000 } },
    answers: 'null',
  },
];

const files: readonly CapabilityCase[] = [
  { what: 'to write a file', step: write('a/x'), denied: { read: ['.'] }, allowed: { write: ['.'] }, answers: '"size":4' },
  { what: 'to read a file', step: at('read', 'a/x'), denied: { write: ['.'] }, allowed: { read: ['.'] }, answers: 'text' },
  { what: 'to list a folder', step: at('list', 'a'), denied: { write: ['.'] }, allowed: { read: ['.'] }, answers: '"name":"x"' },
  { what: 'to look at a file', step: at('stat', 'a/x'), denied: { read: ['b'] }, allowed: { read: ['a'] }, answers: '"size":4' },
  {
    what: 'to ask whether a file exists',
    step: at('exists', 'a/x'),
    denied: { read: ['a/y'] },
    allowed: { read: ['a/x'] },
    answers: 'true',
  },
  {
    what: 'to add to a file',
    step: { op: 'files.append', payload: { path: 'a/x', text: 'more' } },
    denied: { read: ['.'], write: ['b'] },
    allowed: { write: ['a'] },
    answers: '"size":8',
  },
  { what: 'to make a folder', step: at('mkdir', 'c/d'), denied: { write: ['a'] }, allowed: { write: ['c'] }, answers: '' },
  { what: 'to delete a file', step: at('delete', 'a/x'), denied: { read: ['.'] }, allowed: { write: ['.'] }, answers: 'true' },
  {
    what: 'to read what only begins like a granted folder',
    before: write('database/x'),
    step: at('read', 'database/x'),
    denied: { read: ['data'], write: ['.'] },
    allowed: { read: ['database'], write: ['.'] },
    answers: 'text',
  },
  {
    what: 'to write what only begins like a granted file',
    step: write('data.txt.bak'),
    denied: { write: ['data.txt'] },
    allowed: { write: ['data.txt.bak'] },
    answers: '"size":4',
  },
].map((each) => ({ ...each, code: denied }));

const settings: readonly CapabilityCase[] = [
  {
    what: 'to read a variable',
    step: { op: 'env.get', payload: { name: 'PLAIN_SETTING' } },
    denied: { env: ['HEADER_KEY'] },
    code: denied,
    allowed: { env: ['PLAIN_SETTING'] },
    answers: 'a plain value',
  },
  {
    what: 'to read a variable as a setting',
    step: { op: 'config.get', payload: { name: 'PLAIN_SETTING' } },
    denied: {},
    code: denied,
    allowed: { env: ['PLAIN_SETTING'] },
    answers: 'a plain value',
  },
];

const call: Step = { op: 'tools.call', payload: { name: 'helper', arguments: {} } };
const others: readonly CapabilityCase[] = [
  { what: 'to call a tool', step: call, denied: {}, code: denied, allowed: { tools: ['helper'] }, answers: 'helped' },
  {
    what: 'to call a tool beyond the granted names',
    step: call,
    denied: { tools: ['help', 'helpers', 'x*'] },
    code: denied,
    allowed: { tools: ['help*'] },
    answers: 'helped',
  },
  {
    what: 'to call a tool that does not exist, without learning that',
    step: { op: 'tools.call', payload: { name: 'no-such-tool', arguments: {} } },
    denied: {},
    code: denied,
    allowed: { tools: ['*'] },
    answers: 'tool-unknown',
  },
  {
    what: 'to list tools',
    step: { op: 'tools.list', payload: {} },
    denied: {},
    code: denied,
    allowed: { tools: ['helper'] },
    answers: '"name":"helper"',
  },
  {
    what: 'to ask a model',
    step: { op: 'llm.generate', payload: { prompt: 'hello' } },
    denied: { kv: true },
    code: denied,
    allowed: { llm: true },
    answers: '"text":"pong"',
  },
  {
    what: 'to ask a model beyond the budget',
    step: { op: 'llm.generate', payload: { prompt: 'hello' } },
    denied: { llm: 5 },
    code: 'quota-exceeded',
    allowed: { llm: 1_000_000 },
    answers: '"text":"pong"',
  },
  {
    what: 'to run a command',
    step: { op: 'run', payload: { command: 'echo', args: ['said'] } },
    denied: { run: ['node'] },
    code: denied,
    allowed: { run: ['echo'] },
    answers: 'said\\n',
    needs: 'docker',
  },
  {
    what: 'to hand a command files that may not be read',
    before: write('in.txt', 'of the workspace'),
    step: { op: 'run', payload: { command: 'cat', args: ['in.txt'], options: { files: ['in.txt'] } } },
    denied: { run: ['cat'], write: ['.'] },
    code: denied,
    allowed: { run: ['cat'], read: ['in.txt'], write: ['.'] },
    answers: 'of the workspace',
    needs: 'docker',
  },
];

/** All of them; those of one folder build on one another in this order. */
export const capabilityCases: readonly CapabilityCase[] = [...stored, ...bounded, ...files, ...settings, ...others];
