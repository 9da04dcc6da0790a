/** The global Buffer, for code that was written for Node. */
import { Buffer } from '../../../node/buffer-class.ts';
import type { Provide } from '../define.ts';

declare const provide: Provide;

provide(() => ({ Buffer }));
