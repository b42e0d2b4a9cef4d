import { openSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { giveWay } from '../async/give-way.ts';
import type { NeedBytes } from '../dump/containers/file-bytes.ts';
import type { Copy } from '../dump/containers/lines-in.ts';
import { copyInto } from '../dump/containers/open.ts';
import type { CopyAnswer, CopyRequest } from '../dump/copy-thread.ts';

giveWay();

interface Wish {
  range: [number, number];
  resolve: () => void;
  reject: (error: Error) => void;
}

let copy: Promise<Copy | null> = Promise.resolve(null);
let reported = 0;
/** The next records, which may still wait for parts of the file. */
let filling: Promise<boolean> | null = null;
/** Parts that are needed, and those that the other side brings now. */
const wishes: Wish[] = [];
let asked: Wish[] = [];
let wished: () => void = () => {};

const need: NeedBytes = (...range) =>
  new Promise((resolve, reject) => {
    wishes.push({ range, resolve, reject });
    wished();
  });

const next = (): Promise<boolean> => copy.then(async (one) => one === null || (await one.fill.next()).done === true);

/** Lays out the records of a container in a file, one batch per request. */
parentPort?.on('message', async ({ id, request }: { id: number; request: CopyRequest }) => {
  const answer: CopyAnswer = { isDone: true, from: reported, places: [], error: null };
  try {
    if ('path' in request) {
      const { into, path, name, context, isPartial, unpacks } = request;
      copy = copyInto(openSync(into, 'r+'), path, context, name, isPartial ? need : null, unpacks);
      copy.catch(() => {});
    } else {
      for (const { resolve, reject } of asked)
        if (request.problem === undefined) resolve();
        else reject(new Error(request.problem));
      asked = [];
    }
    filling ??= next();
    const isNeedy = new Promise<'needs'>((resolve) => {
      wished = () => resolve('needs');
      if (wishes.length > 0) wished();
    });
    const outcome = await Promise.race([filling, isNeedy]);
    if (outcome === 'needs') {
      asked = wishes.splice(0);
      answer.isDone = false;
      answer.needs = asked.map(({ range }) => range);
    } else {
      filling = null;
      const one = await copy;
      answer.isDone = outcome;
      answer.places = one?.places.slice(reported) ?? [];
      answer.error = one?.error ?? null;
      reported = one?.places.length ?? 0;
      // While those are read that came, the next ones are made.
      if (!outcome) {
        filling = next();
        filling.catch(() => {});
      }
    }
  } catch (error) {
    answer.error = error instanceof Error ? error.message : String(error);
  }
  parentPort?.postMessage({ id, answer });
});
