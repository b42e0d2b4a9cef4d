import { openSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { giveWay } from '../async/give-way.ts';
import type { Copy } from '../dump/containers/lines-in.ts';
import { copyInto } from '../dump/containers/open.ts';
import type { CopyAnswer, CopyRequest } from '../dump/copy-thread.ts';

giveWay();

let copy: Copy | null = null;
let reported = 0;

/** Lays out the records of a container in a file, one batch per request. */
parentPort?.on('message', async ({ id, request }: { id: number; request: CopyRequest }) => {
  const answer: CopyAnswer = { isDone: true, from: reported, places: [], error: null };
  try {
    if ('path' in request) {
      const { into, path, name, context } = request;
      copy = await copyInto(openSync(into, 'r+'), path, context, name);
    }
    if (copy !== null) {
      answer.isDone = (await copy.fill.next()).done === true;
      answer.places = copy.places.slice(reported);
      answer.error = copy.error;
      reported = copy.places.length;
    }
  } catch (error) {
    answer.error = error instanceof Error ? error.message : String(error);
  }
  parentPort?.postMessage({ id, answer });
});
