/** node:os: the same everywhere; nothing of the machine is shown. */
export const EOL = '\n';
export const devNull = '/dev/null';
export const constants = { signals: {}, errno: {}, priority: {} };
export const arch = (): string => 'wasm32';
export const platform = (): string => 'linux';
export const type = (): string => 'Linux';
export const release = (): string => '0.0.0';
export const version = (): string => '0';
export const machine = (): string => 'wasm32';
export const hostname = (): string => 'hotcell';
export const homedir = (): string => '/';
export const tmpdir = (): string => '/tmp';
export const endianness = (): string => 'LE';
export const uptime = (): number => 0;
export const loadavg = (): number[] => [0, 0, 0];
export const totalmem = (): number => 0;
export const freemem = (): number => 0;
export const availableParallelism = (): number => 1;
export const cpus = (): object[] => [{ model: '', speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }];
export const networkInterfaces = (): object => ({});
export const userInfo = (): object => ({ uid: 1000, gid: 1000, username: 'hotcell', homedir: '/', shell: null });
export const getPriority = (): number => 0;

export default {
  EOL,
  devNull,
  constants,
  arch,
  platform,
  type,
  release,
  version,
  machine,
  hostname,
  homedir,
  tmpdir,
  endianness,
  uptime,
  loadavg,
  totalmem,
  freemem,
  availableParallelism,
  cpus,
  networkInterfaces,
  userInfo,
  getPriority,
};
