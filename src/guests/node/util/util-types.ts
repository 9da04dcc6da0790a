/** node:util/types with its default export. */
import * as types from './types.ts';

export * from './types.ts';
export default { ...types };
