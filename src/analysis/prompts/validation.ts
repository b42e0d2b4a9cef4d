import { float64At, itemAt, uint32At } from '../../core/lists/at.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import { bootstrapped, momentsOver } from './bootstrap.ts';

/** A figure of verl's validation: the mean over the prompts of a data source that have the value. */
export interface ValidationFigure {
  source: string | null;
  /** `mean@4`, `std@4`, `best@2/mean`, `worst@4/std`, `maj@4/mean` … */
  metric: string;
  value: number;
  prompts: number;
}

export interface Validation {
  figures: ValidationFigure[];
  /** Prompts with a rollout that lacks this number, so their value is unknown. */
  unknown: number;
}

/** The same figures as verl's `process_validation_metrics`, down to the random draws. */
export function validationOf(rows: FactRows, name: string, members: readonly number[]): Validation {
  const numbers = rows.numbers(name);
  const sources = rows.words('data_source');
  const votes = votesOf(rows);
  const figures = new Map<string, ValidationFigure>();
  let unknown = 0;
  for (const [source, prompt] of promptsOf(rows, sources, members)) {
    const values = Float64Array.from(prompt, (row) => float64At(numbers, row));
    if (!values.every(Number.isFinite)) {
      unknown++;
      continue;
    }
    for (const [metric, value] of figuresOf(
      values,
      prompt.map((row) => votes[row] ?? null),
    )) {
      const known = figures.get(`${source}\0${metric}`) ?? { source, metric, value: 0, prompts: 0 };
      known.value += value;
      known.prompts++;
      figures.set(`${source}\0${metric}`, known);
    }
  }
  return {
    figures: [...figures.values()].map((one) => ({ ...one, value: one.value / one.prompts })),
    unknown,
  };
}

/** The vote of each rollout: the answer that verl's scorers read, under `pred`. */
function votesOf(rows: FactRows): readonly (string | null)[] {
  const numbers = rows.numbers('pred');
  return rows.words('pred').map((word, row) => word ?? (Number.isNaN(numbers[row]) ? null : String(numbers[row])));
}

/** The rollouts of each prompt of each source; a rollout in no group is a prompt by itself. */
function promptsOf(rows: FactRows, sources: readonly (string | null)[], members: readonly number[]) {
  const found = new Map<string, [string | null, number[]]>();
  for (const row of members) {
    const group = rows.groups[row];
    const source = itemAt(sources, row);
    const name = group === -1 ? `row ${row}` : `${group} ${source}`;
    const known = found.get(name);
    if (known === undefined) found.set(name, [source, [row]]);
    else known[1].push(row);
  }
  return found.values();
}

/** 2, 4, 8 … below a number, then the number. */
function sizesOf(count: number): number[] {
  const sizes: number[] = [];
  for (let size = 2; size < count; size *= 2) sizes.push(size);
  return [...sizes, count];
}

function* figuresOf(values: Float64Array, votes: readonly (string | null)[]): Generator<[string, number]> {
  const count = values.length;
  const all = momentsOver(count, (i) => float64At(values, i));
  yield [`mean@${count}`, all.mean];
  if (count === 1) return;
  yield [`std@${count}`, all.std];
  const draw = function* (name: string, size: number, of: (places: Uint32Array, from: number, to: number) => number) {
    const { mean, std } = bootstrapped(count, size, of);
    yield [`${name}@${size}/mean`, mean] as [string, number];
    yield [`${name}@${size}/std`, std] as [string, number];
  };
  const reduced = (pick: (a: number, b: number) => number) => (places: Uint32Array, from: number, to: number) => {
    let value = float64At(values, uint32At(places, from));
    for (let i = from + 1; i < to; i++) value = pick(value, float64At(values, uint32At(places, i)));
    return value;
  };
  const hasVotes = !votes.includes(null);
  const numbers = voteNumbers(votes);
  for (const size of sizesOf(count)) {
    yield* draw('best', size, reduced(Math.max));
    yield* draw('worst', size, reduced(Math.min));
    if (hasVotes)
      yield* draw('maj', size, (places, from, to) => float64At(values, mostVoted(numbers, places, from, to)));
  }
}

/** Numbers from 0; equal votes share one. */
function voteNumbers(votes: readonly (string | null)[]): Uint32Array {
  const known = new Map<string | null, number>();
  return Uint32Array.from(votes, (vote) => {
    const number = known.get(vote) ?? known.size;
    known.set(vote, number);
    return number;
  });
}

/** The first drawn place of the majority vote; in a tie, of the vote drawn first. */
function mostVoted(votes: Uint32Array, places: Uint32Array, from: number, to: number): number {
  const counts = new Uint32Array(votes.length);
  for (let i = from; i < to; i++)
    counts[uint32At(votes, uint32At(places, i))] = uint32At(counts, uint32At(votes, uint32At(places, i))) + 1;
  let most = uint32At(places, from);
  for (let i = from + 1; i < to; i++)
    if (uint32At(counts, uint32At(votes, uint32At(places, i))) > uint32At(counts, uint32At(votes, most)))
      most = uint32At(places, i);
  return most;
}
