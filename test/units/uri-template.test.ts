import { describe, expect, it } from 'vitest';
import { findUriFault, readUriTemplate } from '../../src/units/uri-template.ts';

function match(template: string, uri: string) {
  const read = readUriTemplate(template);
  if (typeof read === 'string') throw new Error(read);
  return read.match(uri);
}

describe('readUriTemplate', () => {
  it('matches what stands there as it is, and hands over the variables decoded', () => {
    expect(match('notes://{id}', 'notes://7')).toEqual({ id: '7' });
    expect(match('notes://{folder}/{id}.txt', 'notes://a%20b/c.d.txt')).toEqual({ folder: 'a b', id: 'c.d' });
    expect(match('notes://{a}-{b}', 'notes://x-y-z')).toEqual({ a: 'x', b: 'y-z' });
    expect(match('db://rows?id={id}', 'db://rows?id=4')).toEqual({ id: '4' });
    for (const uri of ['notes://', 'notes://a/b', 'notes://a?b', 'notes://a#b', 'notes://%zz', 'other://7', 'notes:/7']) {
      expect(match('notes://{id}', uri)).toBeUndefined();
    }
  });

  it('refuses what is no template of level 1', () => {
    for (const template of [
      'notes://all',
      '{scheme}://x',
      'notes://{+path}',
      'notes://{?q}',
      'notes://{a*}',
      'notes://{a}{b}',
      'notes://{a}/{a}',
      'notes://{a',
      'notes://a}',
      'notes://{}',
      'javascript://{code}',
      'hotcell://{x}',
      'notes://{a}\n',
      `notes://{a}/${'x'.repeat(2048)}`,
      `notes://${Array.from({ length: 17 }, (_, at) => `{v${at}}`).join('/')}`,
    ]) {
      expect(readUriTemplate(template), template).toBeTypeOf('string');
    }
  });

  it('looks at every character of an address once, whatever the template', () => {
    const template = `a:${Array.from({ length: 16 }, (_, at) => `a{v${at}}`).join('')}b`;
    const read = readUriTemplate(template);
    if (typeof read === 'string') throw new Error(read);
    for (let round = 0; round < 20_000; round++) expect(read.match(`a:${'a'.repeat(2000)}`)).toBeUndefined();
  });
});

describe('findUriFault', () => {
  it('lets addresses of all schemes be but those that are misread', () => {
    for (const uri of ['notes://all', 'file:///srv/x', 'https://example.com/a?b=c#d', 'urn:isbn:123', 'mailto:a@example.com']) {
      expect(findUriFault(uri)).toBeUndefined();
    }
    for (const uri of [
      'all',
      '//all',
      'Notes://all',
      'javascript:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'hotcell://status',
      'notes://a b',
      'notes://a\u001b[2J',
      'notes://a\u202eb',
      'notes://é',
      'notes:',
      `notes://${'x'.repeat(2048)}`,
    ]) {
      expect(findUriFault(uri), uri).toBeTypeOf('string');
    }
  });
});
