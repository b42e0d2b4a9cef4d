import { closeSync, openSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { scanFor } from '../search/byte-scan.ts';
import type { SearchAnswer, SearchRequest, SiftRequest } from '../search/search-thread.ts';

/**
 * Searches off the main thread: bytes first, and a parse only for lines that may contain a match. Most searches end
 * with the bytes, so what reads records is loaded for the first line that needs it.
 */
parentPort?.on('message', async ({ id, request }: { id: number; request: SearchRequest | SiftRequest }) => {
  let answer: SearchAnswer = { found: [], mayHold: true };
  let fd: number | null = null;
  try {
    const records = request.kind === 'search' ? await import('../search/record-search.ts') : null;
    fd = openSync(request.path, 'r');
    if (request.kind === 'sift') answer = sifted(request, fd);
    else if (records !== null) answer = records.searched(request, fd);
  } catch {
    // A file that vanished contains nothing.
  }
  if (fd !== null) closeSync(fd);
  parentPort?.postMessage({ id, answer });
});

function sifted({ pattern, from, to }: SiftRequest, fd: number): SearchAnswer {
  const scan = scanFor(pattern);
  let mayHold = scan === null;
  scan?.scan(fd, from, to, () => {
    mayHold = true;
    return to;
  });
  return { found: [], mayHold };
}
