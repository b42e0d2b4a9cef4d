// The content that scripts/record.mjs shows: the keys, a training run in progress, and a model that answers.
import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Keys, the text that must be on screen after them, and seconds to read it. `plays`: training writes a step meanwhile. */
export const TOUR = [
  { keys: '', sees: '▌›assistant', seconds: 5 },
  { keys: 'e', sees: 'a Python traceback', seconds: 5 },
  { keys: '!', sees: 'Enter run', seconds: 4 },
  { keys: '\r', sees: /again: /, seconds: 5 },
  { keys: ':3.jsonl:1', sees: '3.jsonl:1', seconds: 1 },
  { keys: '\r', sees: 'sample 1/12', seconds: 2 },
  { keys: 'p', sees: 'min 0.00', seconds: 4 },
  { keys: 'p', sees: 'train', seconds: 1 },
  { keys: '&score < 1 && finding:tool_error', sees: 'finding:tool_error', seconds: 2 },
  { keys: '\r', sees: '4 of 34', seconds: 4 },
  { keys: 'u', sees: 'train', seconds: 1 },
  { keys: ':3.jsonl:1', sees: '3.jsonl:1', seconds: 1 },
  { keys: '\r', sees: 'sample 1/12', seconds: 1 },
  { keys: 'a', sees: 'go on from', seconds: 3 },
  { keys: '\r', sees: 'branch 0', seconds: 1 },
  { keys: 'A', sees: /branch 0 from t\d, qwen3-8b, (no )?score/, seconds: 5 },
  { keys: 'F', sees: '4.jsonl', seconds: 5, plays: true },
];

/** A copy of a dump to which training adds one step. */
export function playedRun(fixtures) {
  const directory = join(mkdtempSync(join(tmpdir(), 'rollout-viewer-tour-')), 'rollout_data');
  cpSync(fixtures, directory, { recursive: true });
  const train = join(directory, 'train');
  // Dated a while ago: a step written just now would be drawn as arriving.
  const before = new Date(Date.now() - 600_000);
  for (const name of readdirSync(directory, { recursive: true })) utimesSync(join(directory, name), before, before);
  const lines = readFileSync(join(train, '3.jsonl'), 'utf8').trimEnd().split('\n');
  return {
    directory,
    play() {
      const records = lines.map((line) =>
        line.replace('"step": 3', '"step": 4').replace('"score": NaN', '"score": 1.0'),
      );
      const write = () => {
        const record = records.shift();
        if (record === undefined) return;
        appendFileSync(join(train, '4.jsonl'), `${record}\n`);
        setTimeout(write, 150);
      };
      write();
    },
  };
}

const ANSWER =
  'The rate is 2000 / 40000, 5 %. So the bonus is 2600 this year,\nand salary and bonus together are\n#### 54600';

/** A model on loopback that streams one answer word by word. */
export async function model() {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const words = ANSWER.split(/(?<= )/);
    const send = (choice) => response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
    const next = () => {
      const content = words.shift();
      if (content !== undefined) {
        send({ delta: { content } });
        setTimeout(next, 60);
        return;
      }
      send({ delta: {}, finish_reason: 'stop' });
      response.end('data: [DONE]\n\n');
    };
    next();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/v1`;
  return { url, close: () => server.close() };
}
