/** The global Buffer, for code that was written for Node. */
import { Buffer as BufferClass } from '../../../node/buffer/buffer-class.ts';

export const Buffer = makeCallable();

/** Old code calls `Buffer(…)`, constructs `new Buffer.alloc(…)` and lists what Buffer has: none of which a class allows. */
function makeCallable(): unknown {
  const Buffer = function (this: unknown, ...args: never[]): unknown {
    if (new.target) return Reflect.construct(BufferClass, args, new.target);
    return typeof args[0] === 'number' ? BufferClass.alloc(args[0]) : Reflect.apply(BufferClass.from, BufferClass, args);
  };
  Object.setPrototypeOf(Buffer, BufferClass);
  for (const name of Object.getOwnPropertyNames(BufferClass)) {
    const member: unknown = Reflect.get(BufferClass, name);
    if (name === 'length' || name === 'name' || name === 'prototype') continue;
    const value = typeof member === 'function' ? makeConstructible(member) : member;
    Object.defineProperty(Buffer, name, { value, writable: true, enumerable: true, configurable: true });
  }
  Object.defineProperty(Buffer, 'prototype', { value: BufferClass.prototype });
  Object.defineProperty(BufferClass.prototype, 'constructor', { value: Buffer, writable: true, configurable: true });
  return Buffer;
}

function makeConstructible(member: CallableFunction): unknown {
  function called(...args: unknown[]): unknown {
    return Reflect.apply(member, BufferClass, args);
  }
  return called;
}
