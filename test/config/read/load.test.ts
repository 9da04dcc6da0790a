import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/read/load.ts';
import type { CliFlags } from '../../../src/config/read/sources.ts';
import { defaultSettings } from '../../../src/config/schema.ts';
import { HotcellError } from '../../../src/errors/hotcell-error.ts';
import { parsePermissions } from '../../../src/permissions/parse.ts';

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'hotcell-config-'));
});
afterEach(() => {
  rmSync(cwd, { recursive: true });
});

function load(flags: CliFlags = {}, env: NodeJS.ProcessEnv = {}) {
  return loadConfig({ flags, env, cwd, parsePermissions });
}

function loadText(text: string, name = 'hotcell.config.yaml') {
  writeFileSync(join(cwd, name), text);
  return load();
}

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof HotcellError && error.code === 'config-invalid') return error.message;
    throw error;
  }
  throw new Error('It was accepted.');
}

describe('loadConfig', () => {
  it('reads no file of more than a megabyte', () => {
    expect(refusal(() => loadText(`# ${'x'.repeat(1_048_576)}`))).toContain('at most 1048576 are read');
  });

  it('has a default for everything', () => {
    expect(load()).toMatchObject({
      host: '127.0.0.1',
      port: 7420,
      configFile: undefined,
      dataDir: join(cwd, '.hotcell'),
      pluginDirs: [join(cwd, 'plugins')],
      queue: { maxPending: 10_000, maxPendingPerCaller: 6000, maxRunning: 6000 },
      kv: { quotaBytes: 1_048_576, maxValueBytes: 262_144 },
      grants: {},
      safeMode: 'off',
      safe: false,
      log: { level: 'info' },
    });
  });

  it('takes flags before the environment before the file before defaults, section by section', () => {
    writeFileSync(
      join(cwd, 'hotcell.config.yaml'),
      'port: 1\nhost: 0.0.0.0\nlog: { level: warn }\nfiles: { workspaceQuotaBytes: 9 }\n',
    );
    const config = load({ port: '3' }, { HOTCELL_PORT: '2', HOTCELL_LOG_LEVEL: 'error', SKILLS_MAX_FILE_BYTES: '77' });
    expect(config).toMatchObject({
      port: 3,
      host: '0.0.0.0',
      log: { level: 'error' },
      files: { maxFileBytes: 77, workspaceQuotaBytes: 9 },
      configFile: join(cwd, 'hotcell.config.yaml'),
    });
  });

  it('reads the sandbox variables, several of one section', () => {
    const config = load(
      {},
      {
        SKILLS_MAX_SANDBOX_OUTPUT_CHARS: '5',
        SKILLS_SANDBOX_TIMEOUT_MS: '10000',
        SKILLS_ALLOWED_SANDBOX_IMAGES: 'org/sandbox:1, node:22-alpine,',
      },
    );
    expect(config.docker).toMatchObject({
      maxOutputBytes: 5,
      timeoutMs: 10_000,
      images: ['alpine:3.20', 'node:22-alpine', 'python:3.12-alpine', 'org/sandbox:1'],
    });
  });

  it('merges the built-ins language by language', () => {
    writeFileSync(join(cwd, 'hotcell.config.yaml'), 'builtins: { eval_code: { node: "n:1" }, who: { eval_code: model } }\n');
    expect(load({}, { SKILLS_MAX_HTTP_RESPONSE_BYTES: '1000' }).builtins).toEqual({
      ...defaultSettings.builtins,
      maxHttpResponseBytes: 1000,
      eval_code: { node: 'n:1', python: '' },
      who: { ...defaultSettings.builtins.who, eval_code: 'model' },
    });
  });

  it('reads paths of a file from the folder of the file, and paths of flags from the working directory', () => {
    mkdirSync(join(cwd, 'etc'));
    writeFileSync(join(cwd, 'etc', 'other.yml'), 'pluginDirs: [mine]\ndataDir: ../data\n');
    const config = load({ config: 'etc/other.yml', skills: ['abilities'] }, { HOTCELL_WASM: 'a:b' });
    expect(config).toMatchObject({
      pluginDirs: [join(cwd, 'etc/mine')],
      dataDir: join(cwd, 'data'),
      skillDirs: [join(cwd, 'abilities')],
      wasmDirs: [join(cwd, 'a'), join(cwd, 'b')],
    });
  });

  it('reads JSON and an empty file', () => {
    expect(loadText('{"port": 0, "$schema": "x"}', 'hotcell.config.json').port).toBe(0);
    rmSync(join(cwd, 'hotcell.config.json'));
    expect(loadText('# nothing yet\n').port).toBe(7420);
  });

  it('runs a file with code only when it is named', () => {
    writeFileSync(join(cwd, 'hotcell.config.ts'), 'const port: number = 4711;\nexport default { port };\n');
    expect(load().port).toBe(7420);
    expect(load({ config: 'hotcell.config.ts' }).port).toBe(4711);
    expect(load({}, { HOTCELL_CONFIG: 'hotcell.config.ts' }).port).toBe(4711);
  });

  it('reads grants with the parser of permissions', () => {
    expect(loadText('grants:\n  weather:\n    net: [API.example.com]\n').grants).toEqual({
      weather: { net: ['api.example.com'] },
    });
    expect(refusal(() => loadText('grants:\n  weather:\n    nett: [a.example]\n'))).toContain('grants.weather');
  });

  it('is frozen in depth', () => {
    const config = loadText('plugins:\n  weather:\n    list: [1]\n');
    expect(Object.isFrozen(config.queue)).toBe(true);
    expect(Object.isFrozen(config.plugins.weather?.list)).toBe(true);
  });

  it('does not take prototypes from keys', () => {
    const config = loadText('plugins:\n  __proto__:\n    polluted: true\nenv:\n  constructor: x\n');
    expect(Object.hasOwn(config.plugins, '__proto__')).toBe(true);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(config.env.constructor).toBe('x');
  });
});

describe('loadConfig refuses', () => {
  it('a key of a map that may be one word, too', () => {
    const message = refusal(() => loadText('repair: { mode: { runtime-eror: auto, limit-reached: never } }\n'));
    expect(message).toContain('repair.mode.runtime-eror is not a known key. Did you mean "runtime-error"?');
    expect(message).toContain('repair.mode.limit-reached must be one of auto, propose, off and is "never".');
    expect(refusal(() => loadText('repair: { mode: automatic }\n'))).toContain('must be one of auto, propose, off or a map');
  });

  it('everything that is wrong at once, each with its source, its key and what was expected', () => {
    writeFileSync(
      join(cwd, 'hotcell.config.yaml'),
      [
        'prot: 1',
        'queue: { maxPendin: 3, maxRunning: 0 }',
        'log: { level: loud }',
        'env: { A: 1 }',
        'skillDirs: [a, null]',
        'pluginDirs: plugins',
        'workers: 3',
      ].join('\n'),
    );
    const message = refusal(() => load({ port: 'abc' }, { SKILLS_MAX_FILE_BYTES: 'much' }));
    const file = join(cwd, 'hotcell.config.yaml');
    expect(message.split('\n')).toEqual([
      '10 settings are wrong.',
      `- ${file}:1: prot is not a known key. Did you mean "port"?`,
      `- ${file}:2: queue.maxPendin is not a known key. Did you mean "maxPending" or "maxPendingPerCaller"?`,
      `- ${file}:2: queue.maxRunning must be a whole number from 1 to 100000 and is 0.`,
      `- ${file}:3: log.level must be one of debug, info, warn, error and is "loud".`,
      `- ${file}:4: env.A must be a text and is 1.`,
      `- ${file}:5: skillDirs.1 must be a text that is not empty and is null.`,
      `- ${file}:6: pluginDirs must be a list of at most 64 texts and is "plugins".`,
      `- ${file}:7: workers must be a map of keys and values and is 3.`,
      '- SKILLS_MAX_FILE_BYTES must be a whole number from 1 to 1073741824 and is "much".',
      '- --port must be a whole number from 0 to 65535 and is "abc".',
    ]);
  });

  it('a key at another level, with the places where it stands', () => {
    writeFileSync(join(cwd, 'hotcell.config.yaml'), 'http: { port: 7500 }\nmaxPending: 3');
    const file = join(cwd, 'hotcell.config.yaml');
    expect(refusal(load).split('\n')).toEqual([
      '2 settings are wrong.',
      `- ${file}:1: http.port is not a known key. Did you mean "port"?`,
      `- ${file}:2: maxPending is not a known key. Did you mean "queue.maxPending"?`,
    ]);
  });

  it('a key that has another word here, before one of the same name elsewhere', () => {
    const provider = 'models:\n  providers:\n    own: { url: "http://127.0.0.1:1", api_key: KEY }';
    expect(refusal(() => loadText(provider))).toMatch(/own\.url is not a known key\. Did you mean "baseUrl"\?\n.*"key"\?/);
  });

  it('grants, with the line and the key', () => {
    const file = join(cwd, 'hotcell.config.yaml');
    expect(refusal(() => loadText('grants:\n  weather:\n    kv: true\n    net: api.example.com\n'))).toBe(
      `${file}:4: grants.weather.net: permissions.net must be a list such as ["api.example.com"]; got "api.example.com".`,
    );
  });

  it('a secret in the wrong place, without showing it', () => {
    for (const text of [
      'secrets: { K: sk-1234 }',
      'plugins: { weather: sk-1234 }',
      'env: sk-1234',
      'mcp: { servers: { a: { command: b, env: sk-1234 } } }',
    ]) {
      const message = refusal(() => loadText(text));
      expect(message).toMatch(/must be a map of keys and values and is a text\.$/);
      expect(message).not.toContain('sk-1234');
    }
  });

  it('a list that is too long', () => {
    expect(refusal(() => load({ plugins: Array(65).fill('p') }))).toBe(
      '--plugins must be a list of at most 64 texts and is a list of 65.',
    );
  });

  it('a limit above its upper bound', () => {
    expect(refusal(() => loadText('limits: { memoryBytes: 999999999999 }'))).toContain(
      'limits.memoryBytes must be a whole number from 1 to 100663296',
    );
    expect(refusal(() => loadText('pluginLimits: { weather: { wallMS: 1 } }'))).toContain('Did you mean "wallMs"?');
  });

  it('YAML that is none, with its line', () => {
    expect(refusal(() => loadText('port: 1\nhost: [unclosed\n'))).toMatch(
      /hotcell\.config\.yaml is not YAML at line \d+, column \d+/,
    );
    expect(refusal(() => loadText('port: 1\nport: 2\n'))).toContain('line 2');
    expect(refusal(() => loadText('port: !!js/function x\n'))).toContain('line 1');
  });

  it('a bomb of aliases', () => {
    const levels = ['a: &a [1,1,1,1,1,1,1,1,1,1]'];
    for (let letter = 98; letter < 106; letter++) {
      const name = String.fromCharCode(letter);
      const before = String.fromCharCode(letter - 1);
      levels.push(`${name}: &${name} [${Array(10).fill(`*${before}`).join(',')}]`);
    }
    expect(refusal(() => loadText(`plugins:\n  x:\n${levels.map((line) => `    ${line}`).join('\n')}\n`))).toContain('alias');
  });

  it('JSON that is none, a list, a missing file, an unknown extension, two files', () => {
    expect(refusal(() => loadText('{"port": }', 'hotcell.config.json'))).toContain('is not JSON');
    expect(refusal(() => loadText('- a\n'))).toContain('more than one config file');
    expect(refusal(() => load({ config: 'missing.yaml' }))).toContain('does not exist');
    writeFileSync(join(cwd, 'list.yaml'), '- a\n');
    expect(refusal(() => load({ config: 'list.yaml' }))).toContain('must hold a map');
    writeFileSync(join(cwd, 'hotcell.toml'), '');
    expect(refusal(() => load({ config: 'hotcell.toml' }))).toContain('.toml');
    expect(refusal(() => load({ config: '.' }))).toContain('.');
  });

  it('code that throws or exports nothing', () => {
    writeFileSync(join(cwd, 'throws.ts'), 'throw new Error("no luck");\n');
    writeFileSync(join(cwd, 'empty.ts'), 'export const port = 1;\n');
    expect(refusal(() => load({ config: 'throws.ts' }))).toContain('no luck');
    expect(refusal(() => load({ config: 'empty.ts' }))).toContain('no default export');
  });

  it('contradictions between keys', () => {
    expect(refusal(() => loadText('workers: { min: 8 }'))).toContain('workers.min is 8');
    expect(refusal(() => load({ data: 'plugins' }))).toContain('overlap');
    expect(refusal(() => load({ data: 'plugins/data' }))).toContain('overlap');
    expect(refusal(() => load({ plugins: ['.hotcell/plugins'] }))).toContain('overlap');
    rmSync(join(cwd, 'hotcell.config.yaml'));
    expect(load({ plugins: ['.'] }).dataDir).toBe(join(cwd, '.hotcell'));
  });
});
