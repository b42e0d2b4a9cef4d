import type { JsonValue } from '../core/json/value.ts';
import { type DiffLine, diffTexts } from './diff.ts';

export type Status = 'same' | 'drift' | 'error' | 'skipped' | 'unknown';
export type Verdict = 'same' | 'normalised' | 'different' | 'now_fails' | 'now_succeeds' | 'flaky' | 'infra';
export type ComparedPart = 'whole' | 'shown_part' | 'none';

/** Everything a tool returns for a call; null for a kind it does not return. */
export interface GivenResult {
  text: string;
  reward: number | null;
  metrics: JsonValue;
}

/** One run of a call. Texts are complete here; the journal keeps their beginnings. */
export interface Attempt {
  /** The text that the tool would have returned, in the form of the record. */
  result: string;
  reward: number | null;
  stdout: string | null;
  stderr: string | null;
  exit_status: number | null;
  /** Seconds from the request to the answer, including queueing. */
  duration: number;
  /** Seconds that the program itself ran, if the sandbox reports it. */
  run_time: number | null;
  verdict: Verdict | null;
  /** Why this run gave no answer. */
  error: string | null;
  /** When it started. */
  at: string;
}

/** How often each distinct result came. */
export interface OutcomeCount {
  result: string;
  count: number;
  verdict: Verdict | null;
}

/** The interpreter of a run, and the packages that the code imports. */
export interface RunEnvironment {
  python: string | null;
  packages: Record<string, string>;
}

/** The outcome of running one call again: one verdict, and the evidence for it. Keys are those of `replay --json`. */
export interface ReplayOutcome {
  locator: string;
  turn: number;
  call: number;
  name: string | null;
  backend: string | null;
  /** null if no code ran, or the sandbox does not say. */
  environment: RunEnvironment | null;
  status: Status;
  verdict: Verdict | null;
  compared: ComparedPart;
  /** For people: `same (256 of 20,113 characters)`, `environment (numpy is not in Pyodide)`. */
  reason: string | null;
  recorded: GivenResult | null;
  result: GivenResult | null;
  attempts: Attempt[];
  /** The attempts, the most common result first. */
  outcomes: OutcomeCount[];
  /** Seconds, over the attempts. */
  time: { min: number; median: number; max: number } | null;
  /** The call was not run with its recorded arguments. */
  edited: boolean;
  /** The calls that ran before it in the same notebook or session. */
  predecessors: number[];
  /** The arguments it ran with, if they are not the recorded ones. */
  arguments?: JsonValue;
}

const diffs = new WeakMap<ReplayOutcome, DiffLine[] | null>();

/** Recorded against new, computed on display; null if they are equal or there is nothing to compare. */
export function diffOf(outcome: ReplayOutcome): DiffLine[] | null {
  const { recorded, result, status, verdict, outcomes } = outcome;
  if (recorded === null || result === null || (status !== 'drift' && verdict !== 'normalised')) return null;
  const known = diffs.get(outcome);
  if (known !== undefined) return known;
  // The most common result of a flaky call may be the recorded one.
  const isOther = (one: OutcomeCount) => one.verdict !== 'same' && one.verdict !== 'normalised';
  const other = verdict === 'flaky' ? outcomes.find(isOther) : undefined;
  const made = diffTexts(recorded.text, other?.result ?? result.text);
  diffs.set(outcome, made);
  return made;
}

export const isDrift = (outcome: ReplayOutcome): boolean => outcome.status === 'drift';

/** The verdict (`same`, `normalised`, `flaky` …) if there is one, else the status: one word for a column. */
export const wordOf = ({ status, verdict }: Pick<ReplayOutcome, 'status' | 'verdict'>): string => verdict ?? status;
