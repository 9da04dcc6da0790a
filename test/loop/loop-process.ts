import { createInterface } from 'node:readline';
import { loadConfig } from '../../src/config/read/load.ts';
import { startDaemon } from '../../src/main.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';
import { createDaemonLog } from '../../src/secrets/daemon-log.ts';
import { requestOf, steps } from './rig.ts';

// A daemon in a process of its own that begins loops and is killed in the middle of them: each line of its input is `ID TOOL…`.
const config = loadConfig({ flags: {}, env: process.env, cwd: process.cwd(), parsePermissions });
const daemon = await startDaemon({ config, version: '0.0.0', listen: false, log: createDaemonLog() });
for await (const line of createInterface({ input: process.stdin })) {
  const [id = '', ...tools] = line.split(' ');
  void tell(id, tools);
}

async function tell(id: string, tools: readonly string[]): Promise<void> {
  const request = requestOf(id, Object.fromEntries(tools.map((name) => [name, { ref: name }])));
  for await (const event of daemon.parts.loops.run(request)) {
    for (const step of steps([event])) process.stdout.write(`${id} ${step}\n`);
  }
}
