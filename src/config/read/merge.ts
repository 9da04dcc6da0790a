import { resolve } from 'node:path';
import type { Config } from '../config-types.ts';
import { defaultSettings as defaults } from '../defaults.ts';
import type { Settings } from '../schema.ts';

/** What does not come from the layers themselves. */
interface MergeContext {
  readonly cwd: string;
  readonly configFile: string | undefined;
  readonly grants: Config['grants'];
}

/** Makes the paths of one layer absolute. */
export function resolvePaths(settings: Settings, baseDir: string): Settings {
  const { dataDir, pluginDirs, skillDirs, wasmDirs, sharedDirs, secrets, mounts } = settings;
  const toAbsolute = (path: string) => resolve(baseDir, path);
  return {
    ...settings,
    ...(dataDir === undefined ? {} : { dataDir: toAbsolute(dataDir) }),
    ...(pluginDirs === undefined ? {} : { pluginDirs: pluginDirs.map(toAbsolute) }),
    ...(skillDirs === undefined ? {} : { skillDirs: skillDirs.map(toAbsolute) }),
    ...(wasmDirs === undefined ? {} : { wasmDirs: wasmDirs.map(toAbsolute) }),
    ...(sharedDirs === undefined ? {} : { sharedDirs: sharedDirs.map(toAbsolute) }),
    ...(mounts === undefined ? {} : { mounts: resolveMounts(mounts, toAbsolute) }),
    ...(secrets === undefined ? {} : { secrets: resolveFiles(secrets, toAbsolute) }),
  };
}

function resolveMounts(
  mounts: NonNullable<Settings['mounts']>,
  toAbsolute: (path: string) => string,
): NonNullable<Settings['mounts']> {
  return Object.fromEntries(Object.entries(mounts).map(([name, mount]) => [name, { ...mount, path: toAbsolute(mount.path) }]));
}

function resolveFiles(
  secrets: NonNullable<Settings['secrets']>,
  toAbsolute: (path: string) => string,
): NonNullable<Settings['secrets']> {
  const resolved = Object.entries(secrets).map(([name, { file, ...rest }]) => [
    name,
    { ...rest, ...(file === undefined ? {} : { file: toAbsolute(file) }) },
  ]);
  return Object.fromEntries(resolved);
}

/** Lays the layers over the defaults, the last one on top; sections are merged key by key, lists and maps replaced. */
export function mergeLayers(layers: readonly Settings[], { cwd, configFile, grants }: MergeContext): Config {
  const chosen: Settings = Object.assign({}, ...layers);
  const toAbsolute = (path: string) => resolve(cwd, path);
  return {
    host: chosen.host ?? defaults.host,
    port: chosen.port ?? defaults.port,
    dataDir: chosen.dataDir ?? toAbsolute(defaults.dataDir),
    configFile,
    pluginDirs: chosen.pluginDirs ?? defaults.pluginDirs.map(toAbsolute),
    skillDirs: chosen.skillDirs ?? defaults.skillDirs.map(toAbsolute),
    wasmDirs: chosen.wasmDirs ?? defaults.wasmDirs.map(toAbsolute),
    sharedDirs: chosen.sharedDirs ?? defaults.sharedDirs,
    mounts: chosen.mounts ?? {},
    grants,
    grantRequested: chosen.grantRequested ?? defaults.grantRequested,
    pluginAllowList: chosen.pluginAllowList ?? defaults.pluginAllowList,
    pluginDenyList: chosen.pluginDenyList ?? defaults.pluginDenyList,
    safeMode: chosen.safeMode ?? defaults.safeMode,
    safe: chosen.safeMode === 'all',
    plugins: chosen.plugins ?? {},
    env: chosen.env ?? {},
    secrets: chosen.secrets ?? {},
    limits: chosen.limits ?? {},
    limitsWithoutGrant: chosen.limitsWithoutGrant ?? {},
    pluginLimits: chosen.pluginLimits ?? {},
    tools: mergeSection<Config['tools']>(
      defaults.tools,
      layers.map((layer) => layer.tools),
    ),
    skillRoutingRules: chosen.skillRoutingRules ?? defaults.skillRoutingRules,
    models: mergeSection<Config['models']>(
      defaults.models,
      layers.map((layer) => layer.models),
    ),
    gateway: mergeSection<Config['gateway']>(
      defaults.gateway,
      layers.map((layer) => layer.gateway),
    ),
    mcp: mergeSection<Config['mcp']>(
      defaults.mcp,
      layers.map((layer) => layer.mcp),
    ),
    queue: mergeSection<Config['queue']>(
      defaults.queue,
      layers.map((layer) => layer.queue),
    ),
    workers: mergeSection<Config['workers']>(
      defaults.workers,
      layers.map((layer) => layer.workers),
    ),
    waiting: mergeSection<Config['waiting']>(
      defaults.waiting,
      layers.map((layer) => layer.waiting),
    ),
    generations: mergeSection<Config['generations']>(
      defaults.generations,
      layers.map((layer) => layer.generations),
    ),
    executions: mergeSection<Config['executions']>(
      defaults.executions,
      layers.map((layer) => layer.executions),
    ),
    idempotency: mergeSection<Config['idempotency']>(
      defaults.idempotency,
      layers.map((layer) => layer.idempotency),
    ),
    callers: mergeSection<Config['callers']>(
      defaults.callers,
      layers.map((layer) => layer.callers),
    ),
    anonymous: mergeSection<Config['anonymous']>(
      defaults.anonymous,
      layers.map((layer) => layer.anonymous),
    ),
    escalation: chosen.escalation ?? defaults.escalation,
    toolOwners: chosen.toolOwners ?? defaults.toolOwners,
    pluginEscalation: chosen.pluginEscalation ?? defaults.pluginEscalation,
    engines: mergeSection<Config['engines']>(
      defaults.engines,
      layers.map((layer) => layer.engines),
    ),
    audit: mergeSection<Config['audit']>(
      defaults.audit,
      layers.map((layer) => layer.audit),
    ),
    approvals: mergeSection<Config['approvals']>(
      defaults.approvals,
      layers.map((layer) => layer.approvals),
    ),
    network: mergeSection<Config['network']>(
      defaults.network,
      layers.map((layer) => layer.network),
    ),
    files: mergeSection<Config['files']>(
      defaults.files,
      layers.map((layer) => layer.files),
    ),
    kv: mergeSection<Config['kv']>(
      defaults.kv,
      layers.map((layer) => layer.kv),
    ),
    http: mergeSection<Config['http']>(
      defaults.http,
      layers.map((layer) => layer.http),
    ),
    docker: mergeDocker(layers.map((layer) => layer.docker)),
    builtins: mergeBuiltins(layers.map((layer) => layer.builtins)),
    search: mergeSection<Config['search']>(
      defaults.search,
      layers.map((layer) => layer.search),
    ),
    skills: mergeSection<Config['skills']>(
      defaults.skills,
      layers.map((layer) => layer.skills),
    ),
    hooks: mergeSection<Config['hooks']>(
      defaults.hooks,
      layers.map((layer) => layer.hooks),
    ),
    repair: mergeSection<Config['repair']>(
      defaults.repair,
      layers.map((layer) => layer.repair),
    ),
    watch: mergeSection<Config['watch']>(
      defaults.watch,
      layers.map((layer) => layer.watch),
    ),
    log: mergeSection<Config['log']>(
      defaults.log,
      layers.map((layer) => layer.log),
    ),
  };
}

/** One section over its defaults, key by key. */
function mergeSection<Section extends object>(base: Section, layers: readonly (Partial<Section> | undefined)[]): Section {
  return Object.assign({}, base, ...layers);
}

/** Languages and who uses which are merged one by one. */
function mergeBuiltins(layers: readonly Settings['builtins'][]): Config['builtins'] {
  const base = defaults.builtins;
  const flat = layers.map((layer = {}) => {
    const { who: _who, eval_code: _languages, browser: _browser, ...others } = layer;
    return others;
  });
  return {
    ...mergeSection<Omit<Config['builtins'], 'eval_code' | 'who' | 'browser'>>(base, flat),
    browser: mergeSection<Config['builtins']['browser']>(
      base.browser,
      layers.map((layer) => layer?.browser),
    ),
    eval_code: mergeSection<Config['builtins']['eval_code']>(
      base.eval_code,
      layers.map((layer) => layer?.eval_code),
    ),
    who: mergeSection<Config['builtins']['who']>(
      base.who,
      layers.map((layer) => layer?.who),
    ),
  };
}

/** The section with sections of its own. */
function mergeDocker(layers: readonly Settings['docker'][]): Config['docker'] {
  const base = defaults.docker;
  const flat = layers.map((layer = {}) => {
    const { warm: _warm, ...others } = layer;
    return others;
  });
  return {
    ...mergeSection<Config['docker']>(base, flat),
    warm: mergeSection<Config['docker']['warm']>(
      base.warm,
      layers.map((layer) => layer?.warm),
    ),
  };
}
