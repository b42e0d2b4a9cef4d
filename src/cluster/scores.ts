import { z } from 'zod';
import { parseJson } from '../core/json/parse.ts';
import { printJson } from '../core/json/print.ts';
import { fileEntry, ownFiles } from '../engine/own/own-files.ts';
import { isRewardFile } from '../engine/own/reward-file.ts';
import type { Rescored, ScoreTask } from '../replay/rescore.ts';
import type { RewardChoice } from '../replay/reward-choice.ts';
import { JobNames } from './job-names.ts';
import type { QueuePlace } from './place.ts';
import { checkSecrets } from './secrets.ts';
import { Numeric } from './wire.ts';

export interface QueuedScoresOptions {
  run: string;
  what: string;
  choice: RewardChoice;
  against: RewardChoice | null;
  repeat: number;
  toolsUrl: string | null;
  share?: string | undefined;
  say: (message: string) => void;
  signal: AbortSignal;
}

/** Has workers rescore rollouts. @throws Error for a function that cannot be sent */
export async function queuedScores(shared: QueuePlace, options: QueuedScoresOptions) {
  const { run, what, choice, against, repeat, toolsUrl, share, say, signal } = options;
  const files = [choice.reward, against?.reward].filter(isRewardFile);
  const own = await ownFiles(files.map((file) => fileEntry(file, process.cwd())));
  const data = { choice: withoutPlaces(choice), against: against && withoutPlaces(against), repeat, toolsUrl, own };
  checkSecrets(JSON.stringify(data), 'the reward');
  const texts = shared.texts(share);
  const jobs = await shared.jobs({ id: run, kind: 'scores', what, data, texts, say, signal });
  const names = new JobNames();
  return {
    /** Null: the run was ended before. */
    async score(task: ScoreTask): Promise<Rescored | null> {
      const text = printJson(task);
      const end = await jobs.ask(names.of(text), text, readRescored);
      if (end === 'idle') return null;
      if ('made' in end) return { ...end.made, locator: task.locator, recorded: task.recorded };
      const reason = 'lost' in end ? `given up by the workers: ${end.lost}` : end.unsent;
      const nothing = { reward: null, score: null, pred: null, metadata: {}, seconds: 0, repeats: null, against: null };
      return { ...nothing, locator: task.locator, recorded: task.recorded, status: 'error', reason };
    },
    close: (isOver: boolean) => jobs.close(isOver),
  };
}

const Score = Numeric.nullable();
const Beside = z.object({
  reward: z.string().nullable(),
  score: Score,
  pred: z.unknown(),
  reason: z.string().nullable(),
});
const Scored = Beside.extend({
  status: z.enum(['same', 'drift', 'error', 'unknown']),
  metadata: z.record(z.string(), z.unknown()),
  seconds: z.number(),
  repeats: z
    .object({ runs: z.number(), deviation: Numeric, min: Numeric, max: Numeric, wavers: z.boolean() })
    .nullable(),
  against: Beside.extend({ parts: z.boolean() }).nullable(),
});

const readRescored = (text: string): Rescored => Scored.parse(parseJson(text)) as unknown as Rescored;

/** Removes interpreters and folders, which are specific to a machine. */
const withoutPlaces = ({ python: _, pythonPath: __, ...choice }: RewardChoice): RewardChoice => choice;
