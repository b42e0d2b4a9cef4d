import { z } from 'zod';
import { parseJson } from '../core/json/parse.ts';
import { printJson } from '../core/json/print.ts';
import { fileEntry } from '../engine/own/own-files.ts';
import { isRewardFile } from '../engine/own/reward-file.ts';
import { type OpenRewards, openRewards, type ReplayBackend, rescoreTask } from '../replay/index.ts';
import type { ScoreTask } from '../replay/rescore.ts';
import type { RewardChoice } from '../replay/reward-choice.ts';
import type { Run } from '../sandbox/check-correctness.ts';
import { openHere, type SandboxOfWorker } from './executions-work.ts';
import { allowHere, SentOwn } from './own-code.ts';
import { Numeric } from './wire.ts';
import type { OpenRun } from './worker.ts';

export interface ScoresWorkOptions {
  concurrency: number;
  sandbox: SandboxOfWorker;
  allowTools?: string | undefined;
  /** The interpreter for users' Python. */
  python?: string | undefined;
}

const Choice = z.object({
  reward: z.string().optional(),
  url: z.string().optional(),
  functionName: z.string().optional(),
  timeout: z.number().optional(),
});
const Data = z.object({
  choice: Choice,
  against: Choice.nullable(),
  repeat: z.number(),
  toolsUrl: z.string().nullable(),
  own: SentOwn,
});

const Task = z.object({
  locator: z.string(),
  recorded: Numeric.nullable(),
  asked: z
    .object({
      task: z.looseObject({ data_source: z.string().nullish(), extra_info: z.looseObject({}).nullish() }),
      text: z.string(),
      length: z.looseObject({}),
    })
    .nullable(),
  error: z.string().nullable(),
});

const readTask = (text: string): ScoreTask => Task.parse(parseJson(text)) as unknown as ScoreTask;

/** Rescores rollouts on this machine. */
export const scoresWork =
  ({ concurrency, sandbox, allowTools, python }: ScoresWorkOptions): OpenRun =>
  async (_head, data) => {
    const { choice, against, repeat, toolsUrl, own } = Data.parse(data);
    let backend: Promise<ReplayBackend> | null = null;
    const runCases: Run = async (request, call) => {
      backend ??= openHere(sandbox, toolsUrl);
      return (await backend).run(request, call);
    };
    const open: OpenRewards[] = [];
    const close = async () => {
      for (const one of open) one.close();
      await (await backend)?.close();
    };
    const opened = async (one: RewardChoice) => {
      const entry = isRewardFile(one.reward) ? fileEntry(one.reward, allowTools ?? '.', true) : null;
      if (entry !== null) await allowHere(own, [entry], allowTools);
      const rewards = openRewards({ ...one, python, ...(entry ? { reward: entry.file! } : {}) }, runCases);
      open.push(rewards);
      await rewards.start();
      return { name: one.reward, router: rewards.router };
    };
    try {
      const first = await opened(choice);
      const second = against === null ? null : await opened(against);
      return {
        concurrency,
        make: async (text, report) => {
          report(() => 'scoring');
          const task = readTask(text);
          const scored = await rescoreTask(task, first.router, undefined, { repeat, against: second?.router });
          return printJson({
            ...scored,
            // The file's path on this machine.
            ...namedReward(scored.reward, first.name),
            against: scored.against && { ...scored.against, ...namedReward(scored.against.reward, second?.name) },
          });
        },
        close,
      };
    } catch (error) {
      await close();
      throw error;
    }
  };

const namedReward = (reward: string | null, name: string | undefined): { reward: string | null } => ({
  reward: reward === null ? null : (name ?? reward),
});
