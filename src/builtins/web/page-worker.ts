import { parentPort, workerData } from 'node:worker_threads';
import { type PageText, renderPage } from './render-page.ts';

// A page may be made to be slow or huge, so it is read on a thread that can be ended.
const { html, url }: { html: string; url: string } = workerData;
const page: PageText = renderPage(html, url);
parentPort?.postMessage(page);
