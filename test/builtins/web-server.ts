import { createServer, type RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';

/** A web server of a test on a free port of this machine: `127.0.0.1:PORT`. */
export async function serveWeb(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}
