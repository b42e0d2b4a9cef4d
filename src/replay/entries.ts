import { z } from 'zod';
import type { JsonValue } from '../core/json/value.ts';
import { EntryHead, type EntryKind } from './journal/journal.ts';

/**
 * The journal's entries for runs, branches and scores. A journal may come from anywhere: a line that does not fit the schema is ignored.
 */

const Texts = z.string().nullable();
const Count = z.number().int().nonnegative();
const Verdict = z.enum(['same', 'normalised', 'different', 'now_fails', 'now_succeeds', 'flaky', 'infra']).nullable();

const Amount = z.number().nullable();
const Given = z.object({ text: z.string(), reward: Amount, metrics: z.unknown() });

const KeptAttempt = z.object({
  result: z.string(),
  reward: Amount,
  stdout: Texts,
  stderr: Texts,
  exit_status: z.number().nullable(),
  duration: z.number(),
  run_time: z.number().nullable(),
  verdict: Verdict,
  error: Texts,
  at: z.string(),
});

const ReplayEntry = EntryHead.extend({
  how: z.record(z.string(), z.string()),
  turn: Count,
  call: Count,
  name: Texts,
  backend: Texts,
  environment: z.object({ python: Texts, packages: z.record(z.string(), z.string()) }).nullable(),
  status: z.enum(['same', 'drift', 'error', 'skipped', 'unknown']),
  verdict: Verdict,
  compared: z.enum(['whole', 'shown_part', 'none']),
  reason: Texts,
  result: Given.nullable(),
  attempts: z.array(KeptAttempt),
  outcomes: z.array(z.object({ result: z.string(), count: Count, verdict: Verdict })),
  time: z.object({ min: z.number(), median: z.number(), max: z.number() }).nullable(),
  edited: z.boolean(),
  predecessors: z.array(Count),
  arguments: z.custom<JsonValue>().optional(),
});
export type ReplayEntry = z.infer<typeof ReplayEntry>;
export const REPLAYS: EntryKind<ReplayEntry> = { name: 'replay', schema: ReplayEntry };

const ForkEntry = EntryHead.extend({
  /** The dump that holds the branches of this rollout, and the branch's uid in it. */
  path: z.string(),
  uid: z.string(),
  /** The first turn that the model regenerated. */
  turn: Count,
  branch: Count,
  model: z.string(),
  status: z.string(),
  score: z.number().nullable(),
  turns: Count,
  edited: z.boolean(),
});
export type ForkEntry = z.infer<typeof ForkEntry>;
export const FORKS: EntryKind<ForkEntry> = { name: 'fork', schema: ForkEntry };

const RescoreEntry = EntryHead.extend({
  status: z.string(),
  recorded: z.number().nullable(),
  score: z.number().nullable(),
  reward: Texts,
  reason: Texts,
  pred: z.unknown(),
});
export type RescoreEntry = z.infer<typeof RescoreEntry>;
export const RESCORES: EntryKind<RescoreEntry> = { name: 'rescore', schema: RescoreEntry };
