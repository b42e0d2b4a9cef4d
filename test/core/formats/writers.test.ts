import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import type { DumpRecord } from '../../../src/core/dump/dump-file.ts';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { recordJson } from '../../../src/viewer/commands/row-json.ts';
import { recordedLines, sharedData } from '../../support/shared-data.ts';

const home = join(sharedData, 'formats');

interface Truth {
  file: string;
  rollouts: number;
  turns: number | null;
  tool_calls: number | null;
  rewards: unknown;
  mask: string;
}

/** The system prompt that OpenHands' own events call an action of the agent is no turn of the model. */
const OTHERWISE = new Set(['openhands/openhands_trajectory.json']);

const truths: Truth[] = recordedLines(join(home, 'truth.jsonl'));

async function rowsOf(path: string): Promise<{ rows: DumpRecord[]; errors: (string | null)[] }> {
  const dump = Dump.open([path]);
  try {
    const rows: DumpRecord[] = [];
    for (const file of dump.files) {
      await file.buildIndex(() => true);
      for (let record = 0; record < file.count; record++) rows.push(file.read(record));
    }
    return { rows, errors: dump.files.map((file) => file.error) };
  } finally {
    dump.close();
  }
}

const rounded = (value: unknown): string =>
  value === null || value === undefined ? 'none' : String(Math.round(Number(value) * 1e4) / 1e4);

// The samples are not part of the project; a clone alone has its own in fixtures/.
describe.skipIf(truths.length === 0)('files of other writers (skipped without ../shared/data)', () => {
  test.each(truths.filter(({ rollouts, file }) => rollouts > 0 && !OTHERWISE.has(file)))('$file', async (truth) => {
    const { rows } = await rowsOf(join(home, truth.file));
    const good = rows.filter(({ rollout }) => rollout !== null);
    expect(good.length).toBe(truth.rollouts);
    const turns = good.flatMap(({ rollout }) => rollout!.turns);
    if (truth.turns !== null) expect(turns.filter(({ role }) => role === 'assistant').length).toBe(truth.turns);
    if (truth.tool_calls !== null) expect(turns.flatMap(({ toolCalls }) => toolCalls).length).toBe(truth.tool_calls);
    const { rewards } = truth;
    if (Array.isArray(rewards) && rewards.every((value) => typeof value !== 'object' || value === null))
      expect(good.map(({ rollout }) => rounded(rollout!.score)).sort()).toEqual(rewards.map(rounded).sort());
    if (truth.mask === 'recorded')
      expect(new Set(good.map(({ rollout }) => rollout!.lossMask?.source))).toEqual(new Set(['recorded']));
    for (const row of good) {
      holdsTogether(row);
      expect(recordJson(row, null, null).contexts).not.toEqual([]);
    }
  });

  test.each(truths.filter(({ rollouts }) => rollouts === 0))('$file says what it is', async ({ file }) => {
    const said: string[] = [];
    try {
      const { rows, errors } = await rowsOf(join(home, file));
      expect(rows.filter(({ rollout }) => rollout !== null)).toEqual([]);
      said.push(...errors.filter((error) => error !== null), ...rows.map(({ error }) => error ?? ''));
    } catch (error) {
      said.push((error as Error).message);
    }
    expect(said.join('').length).toBeGreaterThan(10);
  });

  test.each([
    ['prime-rl/run-chunked', 11],
    ['prime-rl/run-stream', 5],
    ['prime-rl/run-steps', 21],
    ['slime/run', 8],
    ['slime/run-old', 6],
    ['miles', 6],
    ['tinker', 12],
    ['rllm', 10],
    ['harbor', 3],
    ['skyrl', 6],
    ['claude-code/subagent', 1],
  ])('the folder %s shows each of its %i rollouts once', async (folder, count) => {
    const { rows } = await rowsOf(join(home, folder));
    expect(rows.filter(({ rollout }) => rollout !== null).length).toBe(count);
    expect(new Set(rows.map(({ locator }) => locator)).size).toBe(rows.length);
  });
});

/** Spans cover their texts and parts their turns, end to end. */
function holdsTogether({ rollout }: DumpRecord): void {
  const ends = new Map<string, number>();
  for (const { field, start, end } of rollout!.spans) {
    expect(start).toBe(ends.get(field) ?? 0);
    ends.set(field, end);
  }
  for (const [field, end] of ends) expect(rollout!.texts[field]!.length).toBe(end);
  for (const { parts, text } of rollout!.turns) {
    let at = 0;
    for (const part of parts) {
      expect(part.start).toBe(at);
      at = part.end;
    }
    expect(at).toBe(text.length);
  }
}

test('a mask of tokens that cannot be that of the turns leaves the mask of the text unknown', () => {
  const said = (role: string, content: string) => ({ role, content });
  const record = {
    tokens: [[1, 2, 3, 4, 5, 6]],
    masks: [[-100, -100, -100, 4, 5, 6]],
    scores: [1],
    messages: [[said('user', 'q'), said('assistant', 'a'), said('user', 'no'), said('assistant', 'b')]],
  };
  const { rollout, findings } = parseLine(JSON.stringify(record), { validation: false });
  expect(rollout?.turns.map(({ trained }) => trained)).toEqual([false, null, null, null]);
  expect(findings.map(({ check }) => check)).toEqual(['mask_length']);
});
