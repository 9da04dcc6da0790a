import { parentPort, workerData } from 'node:worker_threads';
import { type FreezeRequest, freezePlugin, type ModuleParts } from './freeze.ts';

// Plugin code may never end, so it is frozen on a thread that can be ended.
const { request, parts }: { request: FreezeRequest; parts: ModuleParts } = workerData;
const result = await freezePlugin(request, parts);
parentPort?.postMessage(result);
