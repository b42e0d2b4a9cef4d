import { LONG_RECORD } from '../../core/dump/long-record.ts';
import { meanText } from '../../core/text/quantities.ts';
import { ErrorTable } from '../errors/error-table.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import { changePoint } from '../movement/change-point.ts';
import { rowsOfTraining, timelineOf } from '../movement/timeline.ts';

/** Above this p value a fall may be chance. */
const CLEAR = 0.01;
/** A smaller fall is not worth a line. */
const LEAST = 0.05;
/** Steps compared on each side, and rollouts of each side that are read for what the tools answered. */
const WINDOW = 10;
const READ = 60;

/**
 * Lines about a score that fell at once where no incident began: the fall, and tools that give one answer to every call from
 * there on. An answer that is always the same is no error and no new word, so no number shows it.
 * @param known steps at which incidents began
 */
export function scoreFallLines(facts: FactRows, known: readonly number[]): string[] {
  const rows = rowsOfTraining(facts);
  const { at, steps } = timelineOf(facts, rows);
  const scores = facts.numbers('score');
  const [sums, counts] = [new Float64Array(steps.length), new Float64Array(steps.length)];
  for (const row of rows) {
    const [place, score] = [at[row] ?? -1, scores[row] ?? Number.NaN];
    if (place < 0 || !Number.isFinite(score)) continue;
    sums[place] = (sums[place] ?? 0) + score;
    counts[place] = (counts[place] ?? 0) + 1;
  }
  const scored = [...counts.keys()].filter((place) => (counts[place] ?? 0) > 0);
  const mean = (places: readonly number[]): number =>
    places.reduce((sum, place) => sum + (sums[place] ?? 0), 0) /
    places.reduce((sum, place) => sum + (counts[place] ?? 0), 0);
  const jump = changePoint(
    scored.map((place) => mean([place])),
    scored.map((place) => counts[place] ?? 0),
  );
  if (jump === null || jump.p >= CLEAR) return [];
  const earlier = scored.slice(Math.max(0, jump.at - WINDOW), jump.at);
  const later = scored.slice(jump.at, jump.at + WINDOW);
  const [before, after] = [mean(earlier), mean(later)];
  const step = steps[scored[jump.at] ?? -1];
  if (step === undefined || !(before - after >= LEAST)) return [];
  if (known.some((one) => Math.abs(steps.indexOf(one) - steps.indexOf(step)) <= 2)) return [];
  const tools = newConstants(facts, rows, (row) => {
    const place = at[row] ?? -1;
    return earlier.includes(place) ? 'before' : later.includes(place) ? 'after' : null;
  });
  const fall = `the score fell at step ${step} (${meanText(before)} → ${meanText(after)})`;
  return tools.length > 0
    ? tools.map(({ tool, answer }) => `${fall}: from there on ${tool} gives one answer to different calls: ${answer}`)
    : [`${fall}, and no incident says why`];
}

const MOST_SHOWN = 60;

/** Tools that give one answer to every call after a place, and did not before. */
function newConstants(
  facts: FactRows,
  rows: Uint32Array,
  sideOf: (row: number) => 'before' | 'after' | null,
): { tool: string; answer: string }[] {
  const calls = facts.numbers('tool_calls');
  const tables = { before: new ErrorTable<null>(), after: new ErrorTable<null>() };
  const left = { before: READ, after: READ };
  for (const row of rows) {
    const side = (calls[row] ?? 0) > 0 ? sideOf(row) : null;
    if (side === null || left[side] === 0) continue;
    const { file, record } = facts.place(row);
    if (file.index.length(record) > LONG_RECORD) continue;
    const { rollout } = file.read(record);
    if (rollout !== null) tables[side].add(rollout, null, () => null);
    left[side]--;
  }
  const answersOf = (table: ErrorTable<null>) =>
    table.rows().flatMap(({ tool, answer }) => (answer === undefined ? [] : { tool, answer }));
  const earlier = new Set(answersOf(tables.before).map(({ tool }) => tool));
  return answersOf(tables.after)
    .filter(({ tool }) => !earlier.has(tool))
    .map(({ tool, answer }) => ({
      tool,
      answer: JSON.stringify(answer.length > MOST_SHOWN ? `${answer.slice(0, MOST_SHOWN)}…` : answer),
    }));
}
