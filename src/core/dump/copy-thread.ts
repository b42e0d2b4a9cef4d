import { ThreadClient } from '../async/thread-client.ts';
import type { ReadContext } from '../formats/format.ts';
import { errorMessage } from '../text/thrown.ts';
import type { NeedBytes } from './containers/file-bytes.ts';
import type { Copy } from './containers/lines-in.ts';
import { openNameless } from './nameless-file.ts';

/**
 * Starts copying the records at `path` into the file behind `into` (or what is packed there as it is), or continues: what was needed is
 * there, unless `problem` says why not.
 */
export type CopyRequest =
  | { into: string; path: string; name: string; context: ReadContext; isPartial: boolean; unpacks: boolean }
  | { next: true; problem?: string };

/** The records since the previous answer: places of the records from `from` on. */
export interface CopyAnswer {
  isDone: boolean;
  from: number;
  places: (string | undefined)[];
  error: string | null;
  /** Parts of the file, from and to, without which it does not go on. */
  needs?: [number, number][];
}

/**
 * A copy filled by a thread, so that keys are answered while a large archive is unpacked.
 * @param first writes its beginning meanwhile into the copy at this path; the thread writes the same again @returns whether there is one
 */
export function copyInThread(
  path: string,
  name: string,
  context: ReadContext,
  need: NeedBytes | null = null,
  unpacks = false,
  first: (copy: string) => Promise<boolean> = async () => false,
): Copy {
  const fd = openNameless();
  const copy: Copy = { fd, fill: fill(), places: [], error: null };
  async function* fill(): AsyncGenerator<void> {
    const thread = new ThreadClient<CopyRequest, CopyAnswer>('copy-worker');
    try {
      // The thread opens the file itself: this descriptor may be closed, and its number reused for another file, while
      // the thread writes.
      const into = `/dev/fd/${fd}`;
      let request: CopyRequest = { into, path, name, context, isPartial: need !== null, unpacks };
      let asked = thread.ask(request);
      if (await first(into)) yield;
      for (;;) {
        const answer = await asked;
        if (answer === null) {
          copy.error = 'it takes more memory to unpack than there is';
          return;
        }
        for (const [at, place] of answer.places.entries())
          if (place !== undefined) copy.places[answer.from + at] = place;
        copy.error = answer.error;
        if (answer.isDone) return;
        request = { next: true };
        if (answer.needs === undefined) yield;
        else {
          const problem = await Promise.all(answer.needs.map((range) => need?.(...range))).then(
            () => null,
            errorMessage,
          );
          if (problem !== null) request.problem = problem;
        }
        asked = thread.ask(request);
      }
    } finally {
      thread.close();
    }
  }
  return copy;
}
