import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { verl } from '../../../src/core/formats/verl.ts';
import type { JsonObject } from '../../../src/core/json/value.ts';

const dump = new URL('../../../fixtures/tau-airline/1.jsonl', import.meta.url);
const truth = new URL('../../../fixtures/tau-airline/truth.json', import.meta.url);

interface Message {
  role: string;
  content: string | null;
  tool_calls?: { function: { name: string; arguments: string } }[] | null;
}

test('a dump made of known conversations has their turns', () => {
  const records = readFileSync(dump, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
  const trajectories = JSON.parse(readFileSync(truth, 'utf8')) as {
    task_id: number;
    trial: number;
    traj: Message[];
  }[];
  expect(records.length).toBe(8);
  for (const record of records) {
    const { traj } = trajectories.find(({ task_id, trial }) => task_id === record.task_id && trial === record.trial)!;
    const { turns } = verl.read(record, { validation: false });
    const name = `task ${record.task_id} trial ${record.trial}`;
    expect(
      turns.map((turn) => turn.role),
      name,
    ).toEqual(traj.map(({ role }) => role));
    // The header of a person's words may come from the loop, or from a model that plays the user.
    for (const { role, confidence } of turns.slice(2)) if (role === 'user') expect(confidence, name).toBe('inferred');
    for (const [i, message] of traj.entries()) {
      const turn = turns[i]!;
      const calls = message.tool_calls ?? [];
      expect(
        turn.toolCalls.map((call) => [call.name, call.arguments]),
        `${name} turn ${i}`,
      ).toEqual(calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]));
      if (calls.length === 0) expect(turn.text, `${name} turn ${i}`).toBe(message.content ?? '');
    }
  }
});
