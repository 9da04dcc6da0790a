import { describe, expect, it } from 'vitest';
import { createDaemonLog } from '../../src/secrets/daemon-log.ts';

describe('createDaemonLog', () => {
  it('takes secrets out of every line from the moment it knows them, whoever writes it', () => {
    const lines: string[] = [];
    const log = createDaemonLog({ level: 'info', base: {}, write: (line) => lines.push(line) });
    const child = log.logger.child({ part: 'door' });
    log.redactWith((json) => json.replaceAll('hunter2', '[secret:door]'));
    child.info({ err: new Error('said hunter2') }, 'hunter2 was sent');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/\[secret:door\] was sent"\}\n$/);
    expect(lines[0]).not.toContain('hunter2');
  });

  it('says nothing without a target', () => {
    expect(createDaemonLog().logger.isLevelEnabled('fatal')).toBe(false);
  });
});
