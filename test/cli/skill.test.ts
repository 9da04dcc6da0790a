import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeDocker, testImages } from '../engines/process/docker/docker-machine.ts';
import { openTerminal } from './terminal.ts';

const config = `
grants:
  skill:greeter: { read: [.], write: [.] }
docker:
  images: []
  commands: { node: ${testImages.node}, sh: ${testImages.box} }
`;
const skill = `---
name: greeter
description: Greets people.
nixConfig:
  packages: [jq, pandoc]
---
`;

describeDocker('hotcell skill', () => {
  let terminal: ReturnType<typeof openTerminal>;
  beforeAll(() => {
    terminal = openTerminal({
      'hotcell.config.yaml': config,
      'skills/greeter/SKILL.md': skill,
      'skills/greeter/scripts/greet.js': 'console.log("Hello", process.argv[2])',
      'skills/greeter/scripts/fail.sh': 'cat; printf "\\033[31mbad\\n" >&2; exit 7',
      'skills/other/SKILL.md': '---\nname: other\nnixConfig: { packages: [ripgrep, "$(id)"] }\n---\n',
      'skills/broken/SKILL.md': '---js\n{}\n---\n',
    });
  });
  afterAll(() => terminal.close());

  it('lists what there is and what is wrong', async () => {
    const { code, out } = await terminal.run(['skill', 'list']);
    expect(code).toBe(0);
    expect(out).toMatch(/greeter +2 +0 +Greets people\./);
    expect(out).toMatch(/broken +- +- +Its front matter is written in "js"; only YAML is read\./);
  });

  it('refuses what nobody approved with exit code 4 and the command that helps', async () => {
    const { code, err } = await terminal.run(['skill', 'run', 'greeter', 'greet.js', '--', 'Ada']);
    expect(code).toBe(4);
    expect(err).toContain('hotcell skill approve greeter greet.js');
  });

  it('approves and runs', async () => {
    const approved = await terminal.run(['skill', 'approve', 'greeter', '--run-only']);
    expect(approved.out).toMatch(/greet\.js +approved/);
    const ran = await terminal.run(['skill', 'run', 'greeter', 'greet.js', '--', 'Ada']);
    expect(ran).toEqual({ code: 0, out: 'Hello Ada\n', err: '' });
    expect((await terminal.run(['skill', 'scripts', 'greeter'])).out).toContain('granted: ');
  });

  it('gives standard input and shows how a script failed, without what moves the cursor', async () => {
    const ran = await terminal.run(['skill', 'run', 'greeter', 'fail.sh', '--stdin'], { stdin: 'given' });
    expect(ran).toMatchObject({ code: 1, out: 'given' });
    expect(ran.err).toBe('bad\n✗ fail.sh ended with exit code 7.\n');
  });

  it('is the same tool through hotcell call', async () => {
    const { code, out } = await terminal.run(['call', 'greeter.greet.js', '--json', '{"args":["Grace"]}']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ exitCode: 0, stdout: 'Hello Grace\n' });
  });

  it('shows packages and the recipe of an image', async () => {
    const shown = await terminal.run(['skill', 'packages', 'greeter']);
    expect(shown.out).toMatch(/packages +jq pandoc/);
    expect(shown.out).toMatch(/with Nix +nix-shell -p jq pandoc --command 'sh scripts\/fail.sh'/);
    expect(shown.out).toMatch(/image +hotcell-skill\/greeter:[0-9a-f]{12} \(not-named\)/);
    const recipe = await terminal.run(['skill', 'packages', 'greeter', '--recipe', '--base', 'python:3.12-alpine']);
    expect(recipe.out).toMatch(/^FROM nixos\/nix.*--attr jq pandoc\n.*\nFROM python:3.12-alpine\n/s);
    const hostile = await terminal.run(['skill', 'packages', 'greeter', 'other']);
    expect(hostile.out).toContain('The package "$(id)" is no package of Nixpkgs');
  });
});
