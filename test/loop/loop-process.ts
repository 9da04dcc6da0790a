import { loadConfig } from '../../src/config/read/load.ts';
import { startDaemon } from '../../src/main.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';
import { createDaemonLog } from '../../src/secrets/daemon-log.ts';
import { requestOf, steps } from './rig.ts';

// A daemon in a process of its own that begins a loop and is killed in the middle: `node loop-process.ts ID TOOL…` in its folder.
const [id = '', ...tools] = process.argv.slice(2);
const config = loadConfig({ flags: {}, env: process.env, cwd: process.cwd(), parsePermissions });
const daemon = await startDaemon({ config, version: '0.0.0', listen: false, log: createDaemonLog() });
const request = requestOf(id, Object.fromEntries(tools.map((name) => [name, { ref: name }])));
for await (const event of daemon.parts.loops.run(request)) process.stdout.write(`${steps([event]).join('')}\n`);
