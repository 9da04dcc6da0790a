/**
 * The few integers that the main thread and a worker share. Word 0 is the serial number of the slice that shall stop.
 * The words after it belong to the slices of the present message: whoever changes a word first, the worker to start the
 * slice or the main thread to take it back, has it. The last word counts the looks that the running slice takes at the clock.
 */

/** Slices that travel in one message at the most. */
export const maxSlices = 16;
/** Size of the shared memory. */
export const CONTROL_BYTES = 4 * (2 + maxSlices);
const LOOKS = 1 + maxSlices;

const FREE = 0;
const STARTED = 1;
const TAKEN_BACK = 2;

/** Main thread, before a message is sent: nobody has a slice of it yet. */
export function resetClaims(control: Int32Array): void {
  for (let index = 0; index < maxSlices; index++) Atomics.store(control, 1 + index, FREE);
}

/** Worker: true when the slice is its own now. */
export function claimSlice(control: Int32Array, index: number): boolean {
  return Atomics.compareExchange(control, 1 + index, FREE, STARTED) === FREE;
}

/** Main thread: true when the worker had not started the slice and never will. */
export function takeSliceBack(control: Int32Array, index: number): boolean {
  return Atomics.compareExchange(control, 1 + index, FREE, TAKEN_BACK) === FREE;
}

/** Worker: the slice looked at the clock, so it ends by itself when its time is over. */
export function noteLook(control: Int32Array): void {
  Atomics.add(control, LOOKS, 1);
}

/** Main thread: changes whenever the slice that runs has looked at the clock. */
export function readLooks(control: Int32Array): number {
  return Atomics.load(control, LOOKS);
}
