import { type QueryAnswer, QueryThread, type QueryThreadRequest } from '../../../analysis/query/query-thread.ts';
import { threadCount } from '../../../core/async/thread-count.ts';
import type { DumpFile } from '../../../core/dump/dump-file.ts';

/** One processor is left for the screen. */
const MAX_THREADS = 4;

/** Threads that read records for the list. They start with the first request, and stop after a while without any. */
export class QueryPool {
  readonly #threads: { thread: QueryThread; asked: number }[] = [];
  readonly size = threadCount(MAX_THREADS, 1);
  #isClosed = false;

  constructor() {
    for (let i = 0; i < this.size; i++) this.#threads.push({ thread: new QueryThread(), asked: 0 });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** @returns null if the thread ended before it answered: closed, or out of memory on a record */
  async ask(file: DumpFile, records: readonly number[], asked: QueryThreadRequest): Promise<QueryAnswer | null> {
    const idlest = this.#threads.reduce((best, one) => (one.asked < best.asked ? one : best));
    idlest.asked++;
    const answer = await idlest.thread.askFor(file, records, asked);
    idlest.asked--;
    return answer;
  }

  close(): void {
    this.#isClosed = true;
    for (const { thread } of this.#threads) thread.close();
  }
}
