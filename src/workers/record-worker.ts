import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { parseLine } from '../dump/parse-line.ts';
import type { WorkerAnswer, WorkerRequest } from '../dump/record-worker-client.ts';
import { addExtraNames } from '../rollout/extra-names.ts';
import { FACT_ROW, factRow } from '../rollout/facts.ts';
import { groupKeyOf } from '../rollout/group-key.ts';

/** Parses records off the main thread, so that the screen never waits for them. */
parentPort?.on('message', ({ id, request }: { id: number; request: WorkerRequest }) => {
  const { path, places, parts, context, wantsKeys } = request;
  const count = places.length / 2;
  const extras = new Set<string>();
  const answer: WorkerAnswer = {
    facts: new Float64Array(count * FACT_ROW),
    scores: new Float64Array(count),
    hasScore: new Uint8Array(count),
    keys: [],
    extras: [],
  };
  try {
    const fd = openSync(path, 'r');
    try {
      for (let i = 0; i < count; i++) {
        const buffer = Buffer.allocUnsafe(places[i * 2 + 1] as number);
        const length = readSync(fd, buffer, 0, buffer.length, places[i * 2] as number);
        const line = parseLine(buffer.toString('utf8', 0, length), context, parts?.[i]);
        answer.facts.set(factRow(line.rollout, line.findings), i * FACT_ROW);
        answer.scores[i] = line.rollout?.score ?? 0;
        answer.hasScore[i] = line.rollout?.score == null ? 0 : 1;
        if (line.rollout !== null) addExtraNames(line.rollout.extras, extras);
        if (wantsKeys) answer.keys.push(line.rollout === null ? null : groupKeyOf(line.rollout));
      }
    } finally {
      closeSync(fd);
    }
  } catch {
    // A file that vanished: its records say so when they are looked at; here they stay "not looked at".
  }
  answer.extras = [...extras];
  const { facts, scores, hasScore } = answer;
  parentPort?.postMessage({ id, answer }, [facts.buffer, scores.buffer, hasScore.buffer] as ArrayBuffer[]);
});
