/** node:tty: there is no terminal. */
export const isatty = (): boolean => false;
export class ReadStream {}
export class WriteStream {}
