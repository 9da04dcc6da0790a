import { Type } from 'typebox';
import type { Capability } from '../border/capability.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { createPayloadReader } from './payload.ts';

/** Tells those who follow a resource that it changed; false where it is none of the unit. Must not throw. */
export type TellResourceChange = (unitPath: string, uri: string) => boolean;

const readChange = createPayloadReader(Type.Object({ uri: Type.String({ minLength: 1 }) }, { additionalProperties: false }));

/** `context.resources.changed(uri)`: a plugin speaks of its own resources alone. */
export function createResources(tell: TellResourceChange): Capability {
  return {
    operations: {
      async 'resources.changed'(request, { unitPath }) {
        const { uri } = readChange(request);
        if (tell(unitPath, uri)) return { payload: null };
        throw new HotcellError('resource-unknown', `The plugin has no resource ${JSON.stringify(uri.slice(0, 200))}.`, {
          fix: 'Name an address of "resources", or one that fits a template there.',
        });
      },
    },
    reads: ['resources.changed'],
  };
}
