import { Type } from 'typebox';
import { defineContract } from '../operation.ts';
import { listOf } from './paging.ts';

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
