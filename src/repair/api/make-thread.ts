import { parentPort, workerData } from 'node:worker_threads';
import type { MakeOrder } from './make-plugin.ts';
import { makeText } from './make-text.ts';

// A description may be made to be slow or huge, so it is read on a thread that can be ended.
const order: MakeOrder = workerData;
parentPort?.postMessage(makeText(order));
