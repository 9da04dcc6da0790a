import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { findSkills } from '../../src/skills/discover.ts';
import { makeSkillFolder, page } from './skill-house.ts';

const where = { commands: { python3: 'py:1', node: 'node:1' }, images: { special: 'special:1' } };
let house: ReturnType<typeof makeSkillFolder>;

afterEach(() => house.remove());

async function problemOf(name: string): Promise<string | undefined> {
  const { problems } = await findSkills([house.dir], where);
  return problems.find(({ folder }) => folder === name)?.problem;
}

describe('findSkills', () => {
  it('reads what scripts need, one level deep, whatever the case of SKILL.md', async () => {
    house = makeSkillFolder({
      'pdf/SKILL.md': page(
        'pdf-tools',
        'metadata:\n  version: "1.2"\nnixConfig:\n  packages: [jq, 5, pandoc]\nnetworkConfig:\n  allowedDomains: [api.example.com]\n',
      ),
      'pdf/scripts/extract.py': 'print(1)',
      'pdf/scripts/deep/helper.py': 'x = 1',
      'pdf/scripts/note.txt': 'a note',
      'pdf/.nix-packages': 'jq\n',
      'special/skill.md': page('special'),
      'special/scripts/run.rb': 'puts 1',
      'deep/inner/SKILL.md': page('inner'),
      'none/README.md': 'no skill',
    });
    const { skills, problems } = await findSkills([house.dir, join(house.dir, 'missing')], where);
    expect(problems).toEqual([]);
    expect(skills.map(({ manifest }) => manifest.name)).toEqual(['pdf-tools', 'special']);
    expect(skills[0]).toMatchObject({
      manifest: { version: '1.2.0', domains: ['api.example.com'], nix: { packages: ['jq', 'pandoc'] } },
      nixFiles: { '.nix-packages': 'jq\n' },
      scripts: [
        { name: 'extract.py', tool: 'pdf-tools.extract.py', interpreter: { command: 'python3', args: [] }, image: 'py:1' },
        { name: 'note.txt', problem: expect.stringContaining('Nothing says what reads it') },
      ],
    });
    expect(skills[1]?.scripts).toMatchObject([{ name: 'run.rb', image: 'special:1' }]);
  });

  it('takes the name of the folder where the file has no usable one', async () => {
    house = makeSkillFolder({ 'my-skill/SKILL.md': page('"../../etc"'), 'My Skill/SKILL.md': page('"a/b"') });
    const { skills } = await findSkills([house.dir], where);
    expect(skills.map(({ manifest }) => manifest.name)).toEqual(['my-skill']);
    expect(await problemOf('My Skill')).toContain('Neither its name nor its folder');
  });

  it('lets the first of two with one name win, and reads a folder once', async () => {
    house = makeSkillFolder({ 'a/SKILL.md': page('same'), 'b/SKILL.md': page('same') });
    symlinkSync(join(house.dir, 'a'), join(house.dir, 'c'));
    const { skills, problems } = await findSkills([house.dir, house.dir], where);
    expect(skills.map(({ dir }) => dir.slice(-1))).toEqual(['a']);
    expect(problems.map(({ folder }) => folder)).toEqual(['b']);
  });

  it('gives no page the name of the folder of another', async () => {
    house = makeSkillFolder({
      'aaa/SKILL.md': page('weather'),
      'aaa/scripts/look.py': 'print("mine")',
      'weather/SKILL.md': page('weather'),
      'weather/scripts/look.py': 'print("sunny")',
    });
    const { skills, problems } = await findSkills([house.dir], where);
    expect(skills.map(({ dir, scripts }) => [dir, scripts[0]?.tool])).toEqual([[join(house.dir, 'weather'), 'weather.look.py']]);
    expect(problems.map(({ folder }) => folder)).toEqual(['aaa']);
  });

  it('changes the hash with every byte and every name', async () => {
    house = makeSkillFolder({ 'a/SKILL.md': page('a'), 'a/scripts/x.py': '1', 'a/data.txt': 'one' });
    const hashNow = async () => (await findSkills([house.dir], where)).skills[0]?.contentHash;
    const first = await hashNow();
    expect(await hashNow()).toBe(first);
    house.write('a/data.txt', 'two');
    const second = await hashNow();
    expect(second).not.toBe(first);
    house.write('a/data.txt', 'one');
    expect(await hashNow()).toBe(first);
    house.write('a/empty', '');
    expect(await hashNow()).not.toBe(first);
  });

  it('refuses links that lead out, to folders and to nothing; a link within is read', async () => {
    house = makeSkillFolder({
      'out/SKILL.md': page('out'),
      'loop/SKILL.md': page('loop'),
      'gone/SKILL.md': page('gone'),
      'fine/SKILL.md': page('fine'),
      'fine/scripts/a.py': 'print(1)',
    });
    symlinkSync('/etc/passwd', join(house.dir, 'out', 'data'));
    symlinkSync('..', join(house.dir, 'loop', 'again'));
    symlinkSync('nowhere', join(house.dir, 'gone', 'data'));
    symlinkSync('a.py', join(house.dir, 'fine', 'scripts', 'b.py'));
    expect(await problemOf('out')).toBe('"data" is a link that leads out of the skill.');
    expect(await problemOf('loop')).toContain('leads out of the skill');
    expect(await problemOf('gone')).toBe('"data" is a link to nothing.');
    const { skills } = await findSkills([house.dir], where);
    expect(skills.map(({ manifest, scripts }) => [manifest.name, scripts.length])).toEqual([['fine', 2]]);
  });

  it('refuses pipes without waiting for them, too many files and too many bytes', async () => {
    house = makeSkillFolder({ 'pipe/SKILL.md': page('pipe'), 'many/SKILL.md': page('many'), 'big/SKILL.md': page('big') });
    spawnSync('mkfifo', [join(house.dir, 'pipe', 'p')]);
    for (let at = 0; at < 1001; at++) house.write(`many/f${at}`, '');
    house.write('big/data', new Uint8Array(17 * 1024 * 1024));
    expect(await problemOf('pipe')).toBe('"p" is no regular file.');
    expect(await problemOf('many')).toBe('It has more than 1000 files.');
    expect(await problemOf('big')).toBe('It has more than 16777216 bytes of files.');
  });

  it('leaves out what no workspace may hold', async () => {
    house = makeSkillFolder({ 'a/SKILL.md': page('a'), 'a/.env': 'KEY=1' });
    mkdirSync(join(house.dir, 'a', '.git'));
    const before = (await findSkills([house.dir], where)).skills[0]?.contentHash;
    house.write('a/.git/config', 'x');
    house.write('a/.env', 'KEY=2');
    expect((await findSkills([house.dir], where)).skills[0]?.contentHash).toBe(before);
  });

  it('says what is wrong with front matter', async () => {
    house = makeSkillFolder({ 'a/SKILL.md': '---js\n{}\n---\n' });
    expect(await problemOf('a')).toBe('Its front matter is written in "js"; only YAML is read.');
  });
});
