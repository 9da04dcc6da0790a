import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/dependencies.md', root), 'utf8');
const manifest: unknown = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const [runtime = '', development = ''] = page.split('## For development');

function listPackages(key: string): string[] {
  const found = Object(manifest)[key];
  return Object.keys(found ?? {}).sort();
}

function listRows(part: string): string[] {
  return [...part.matchAll(/^\| `([^`]+)` \| \S.+ \|$/gm)].map(([, name = '']) => name);
}

describe('docs/dependencies.md', () => {
  it('gives a reason for every dependency, and for nothing else', () => {
    expect(listRows(runtime)).toEqual([...listPackages('dependencies'), ...listPackages('optionalDependencies')].sort());
    expect(listRows(development)).toEqual(listPackages('devDependencies'));
  });
});

describe('package.json', () => {
  it('says of every package with an install script whether it may run', () => {
    const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'));
    const withScripts = Object.entries(packages).flatMap(([path, about]) =>
      Object(about).hasInstallScript === true ? [path.replace(/^.*node_modules\//, '')] : [],
    );
    expect(listPackages('allowScripts')).toEqual([...new Set(withScripts)].sort());
  });
});
