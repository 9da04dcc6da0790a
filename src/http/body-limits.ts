import { limitTable } from '../config/limits.ts';

/** The most that a request or a message may hold: the arguments of a call, and room for what stands around them. */
export const maxBodyBytes = limitTable.argumentBytes.max + 64 * 1024;

/** The most that a client of models may send: its whole conversation comes with every request, with pictures in it. */
export const maxModelBodyBytes = 32 * 1024 * 1024;
