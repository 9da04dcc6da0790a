import { createMounts } from '../../../src/capabilities/files/mounts.ts';
import { createFiles } from '../../../src/capabilities/files.ts';
import { createUser } from '../capability-user.ts';

// Run as a process: writes one file whole, in turn full of one letter and of another, until it is killed.
const [dataDir = '', mount = '', path = '', size = '0'] = process.argv.slice(2);
const folders = { dataDir, configFile: undefined, pluginDirs: [], skillDirs: [], wasmDirs: [], sharedDirs: [] };
const mounts = createMounts({ ...folders, mounts: { docs: { path: mount, write: true } } });
const files = createFiles({ dataDir, limits: { maxFileBytes: 2 ** 24, workspaceQuotaBytes: 2 ** 30 }, mounts });
const user = createUser({ write: ['.', 'docs:/'] });

for (let turn = 0; ; turn++) {
  const body = Buffer.alloc(Number(size), turn % 2 === 0 ? 'a' : 'b');
  const request = { op: 'files.write', payload: JSON.stringify({ path }), body };
  await files.operations[request.op]?.(request, user, new AbortController().signal);
  if (turn === 0) process.send?.('written');
}
