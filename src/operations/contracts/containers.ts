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

const imageView = Type.Object({
  name: Type.String(),
  status: Type.Enum(['present', 'missing', 'changed'], {
    description: '`changed`: the name means another image than when it was first used; commands stay with that one.',
  }),
  usedBy: Type.Array(Type.String(), { description: 'What needs it, by the config.' }),
  id: Type.Optional(Type.String({ description: 'The image that commands run with.' })),
  newId: Type.Optional(Type.String({ description: 'What the name means now, when that is another one.' })),
  sizeBytes: Type.Optional(Type.Integer()),
  fix: Type.Optional(Type.String({ description: 'How to get it, or to accept it.' })),
});

/** What can be done with the images of native commands. */
export const imageContracts = {
  list: defineContract({
    name: 'images.list',
    summary: 'Lists the images in which commands may run: which are there, and how to get the others.',
    role: 'admin',
    input: {},
    output: listOf(imageView),
    http: { method: 'GET', path: '/api/images' },
  }),
  accept: defineContract({
    name: 'images.accept',
    summary: 'Takes what the name of an image means now for what commands run with.',
    role: 'admin',
    isForPeople: true,
    input: { name: Type.String({ minLength: 1, maxLength: 256 }) },
    output: imageView,
    http: { method: 'POST', path: '/api/images' },
  }),
};
