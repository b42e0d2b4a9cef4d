import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type JsonObject, objectIn } from '../../core/json/value.ts';
import { itemAt } from '../../core/lists/at.ts';

/** Slower answers are abandoned: the agent can ask for less. */
const LONGEST_MS = 120_000;

export interface ProgramRun {
  /** The objects taken, in line order. */
  rows: JsonObject[];
  /** There were more lines than were taken. */
  hasMore: boolean;
  /** Messages that the program printed besides its answer. */
  messages: string;
  /** null: terminated because enough was taken. */
  status: number | null;
}

/**
 * Runs this program with `--json` arguments and takes lines of its answer until `take` returns false; lines for which it returns null are
 * not kept. This gives an agent everything the command line can do, and a dump that crashes its reader crashes only a child.
 */
export async function askProgram(
  args: readonly string[],
  take: (row: JsonObject) => boolean | null,
  signal?: AbortSignal,
): Promise<ProgramRun> {
  const child = spawn(process.execPath, [...process.execArgv, itemAt(process.argv, 1), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  ended.catch(() => {});
  let messages = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (messages.length < MOST_MESSAGES) messages += text;
  });
  const end = () => child.kill('SIGKILL');
  const timer = setTimeout(end, LONGEST_MS);
  signal?.addEventListener('abort', end);
  const rows: JsonObject[] = [];
  let hasMore = false;
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.startsWith('{')) {
        messages += line;
        continue;
      }
      const row = objectIn(JSON.parse(line));
      const taken = take(row);
      hasMore = taken === false;
      if (hasMore) break;
      if (taken) rows.push(row);
    }
    if (hasMore) end();
    const status = await ended;
    if (status === null && !hasMore) throw new Error(`it took longer than ${LONGEST_MS / 1000} s: ask for less`);
    return { rows, hasMore, messages: messages.trim(), status };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
    end();
  }
}

const MOST_MESSAGES = 4000;
