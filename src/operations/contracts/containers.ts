import { Type } from 'typebox';
import { defineContract } from '../operation.ts';
import { listOf } from './paging.ts';

const containerView = Type.Object({
  id: Type.String({ description: 'What it runs for: an execution, or `plugin-cell` for a container with a plugin in it.' }),
  image: Type.String(),
  command: Type.Optional(Type.String({ description: 'The command, for a native command.' })),
  startedAt: Type.String({ format: 'date-time' }),
});

/** What can be done with what runs in containers. */
export const containerContracts = {
  list: defineContract({
    name: 'containers.list',
    summary: 'Lists what runs in containers now, or waits for one.',
    role: 'admin',
    input: {},
    output: listOf(containerView),
    http: { method: 'GET', path: '/api/containers' },
  }),
  kill: defineContract({
    name: 'containers.kill',
    summary: 'Ends what runs in containers, of one execution or of all; the calls go on with an error.',
    role: 'admin',
    input: {
      id: Type.Optional(
        Type.String({ minLength: 1, maxLength: 512, description: 'As containers.list names it; all when left out.' }),
      ),
    },
    output: Type.Object({ killed: Type.Integer({ minimum: 0, description: 'How many were ended.' }) }),
    http: { method: 'POST', path: '/api/containers/kill' },
  }),
};
