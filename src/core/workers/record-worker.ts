import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { collectGarbage } from '../async/collected.ts';
import { giveWay } from '../async/give-way.ts';
import { loadEncoding } from '../chat/rendered.ts';
import { isHeavy, textInFile } from '../dump/long-record.ts';
import { tooLarge } from '../dump/memory-limit.ts';
import { packLines } from '../dump/packed-details.ts';
import { type ParsedLine, type ParsedRecord, parsedRecord, recordIn } from '../dump/parse-line.ts';
import { detailLine } from '../dump/record-details.ts';
import { recordFactsOf } from '../dump/record-facts.ts';
import type { WorkerAnswer, WorkerRequest } from '../dump/record-worker-client.ts';
import type { JsonValue } from '../json/value.ts';
import { float64At } from '../lists/at.ts';
import { addExtraNames } from '../rollout/extra-names.ts';
import { FACT_ROW } from '../rollout/fact-row.ts';
import { groupKeyOf } from '../rollout/group-key.ts';

/** Bytes read at once. */
const READ = 1 << 20;

/** Parses records off the main thread, so that the screen never waits. */
parentPort?.on('message', async ({ id, request }: { id: number; request: WorkerRequest }) => {
  const { path, places, parts, context, wantsKeys, wantsDetails, givesWay } = request;
  if (givesWay) giveWay();
  await loadEncoding(context.encoding);
  const count = places.length / 2;
  const extras = new Set<string>();
  const details: string[] = [];
  const cells = new Map<string, (JsonValue | undefined)[]>();
  const answer: WorkerAnswer = {
    facts: new Float64Array(count * FACT_ROW),
    scores: new Float64Array(count),
    hasScore: new Uint8Array(count),
    groups: new Float64Array(count),
    prompts: new Float64Array(count),
    uids: new Float64Array(count),
    cells: [],
    keys: [],
    details: null,
    extras: [],
  };
  try {
    const fd = openSync(path, 'r');
    try {
      const lines = new RecordLines(fd, places);
      for (let i = 0; i < count; i++) {
        const line = lines.lineAt(i, context, parts?.[i]);
        const { row, score, group, cells: own } = recordFactsOf(line);
        answer.facts.set(row, i * FACT_ROW);
        answer.scores[i] = score ?? 0;
        answer.hasScore[i] = score === null ? 0 : 1;
        answer.groups[i] = group.group;
        answer.prompts[i] = group.prompt;
        answer.uids[i] = group.uid;
        for (const [name, value] of own) {
          let values = cells.get(name);
          if (values === undefined) {
            values = new Array(count).fill(undefined);
            cells.set(name, values);
          }
          values[i] = value;
        }
        if (line.rollout !== null) addExtraNames(line.rollout.extras, extras);
        if (wantsDetails) details.push(detailLine(line));
        if (wantsKeys) answer.keys.push(line.rollout === null ? null : groupKeyOf(line.rollout));
      }
    } finally {
      closeSync(fd);
    }
  } catch {
    // The file vanished. Its records will report that when they are opened; here they remain "not examined".
  }
  answer.extras = [...extras];
  if (wantsDetails) answer.details = packLines(details);
  answer.cells = [...cells].map(([name, values]) => ({ name, values }));
  const { facts, scores, hasScore, groups, prompts, uids } = answer;
  const transfer = [facts, scores, hasScore, groups, prompts, uids].map(({ buffer }) => buffer as ArrayBuffer);
  parentPort?.postMessage({ id, answer }, transfer);
});

/** The texts of lines that are mostly adjacent, and read together. */
class RecordLines {
  readonly #fd: number;
  readonly #places: Float64Array;
  #buffer: Buffer = Buffer.alloc(0);
  #start = 0;

  /** @param places of all requested lines */
  constructor(fd: number, places: Float64Array) {
    this.#fd = fd;
    this.#places = places;
  }

  /** Neither bytes nor text of a heavy line are kept beside its record. */
  lineAt(i: number, context: WorkerRequest['context'], part = 0): ParsedLine {
    const record = this.#recordAt(i, context, part);
    if (isHeavy({ length: float64At(this.#places, i * 2 + 1) })) collectGarbage();
    return parsedRecord(record, context);
  }

  /** A function of its own, whose end ends the text. */
  #recordAt(i: number, context: WorkerRequest['context'], part: number): ParsedRecord {
    const error = tooLarge(context.memory, float64At(this.#places, i * 2 + 1));
    return error === null ? recordIn(this.#at(i), context, part) : { json: undefined, error };
  }

  #at(i: number): string {
    const places = this.#places;
    const offset = float64At(places, i * 2);
    const length = float64At(places, i * 2 + 1);
    if (length > READ) {
      this.#buffer = Buffer.alloc(0);
      const text = textInFile(this.#fd, offset, length);
      if (isHeavy({ length })) collectGarbage();
      return text;
    }
    if (offset < this.#start || offset + length > this.#start + this.#buffer.length) {
      let end = offset + length;
      for (let next = i + 1; next * 2 < places.length; next++) {
        const to = float64At(places, next * 2) + float64At(places, next * 2 + 1);
        if (float64At(places, next * 2) < offset || to - offset > READ) break;
        end = Math.max(end, to);
      }
      const buffer = Buffer.allocUnsafe(end - offset);
      this.#buffer = buffer.subarray(0, readSync(this.#fd, buffer, 0, buffer.length, offset));
      this.#start = offset;
    }
    const from = offset - this.#start;
    return this.#buffer.toString('utf8', from, from + length);
  }
}
