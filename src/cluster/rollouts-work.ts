import { rm } from 'node:fs/promises';
import { Limiter } from '../core/async/limiter.ts';
import { makeTemporary } from '../core/files/temporary.ts';
import { type CodeRunner, openCodeRunner } from '../engine/collect/code-runner.ts';
import { makeRollout } from '../engine/collect/collector.ts';
import { stageOf } from '../engine/collect/live.ts';
import { type OwnParts, openOwn } from '../engine/collect/open-own.ts';
import { prepareRun } from '../engine/collect/prepare.ts';
import type { Settings } from '../engine/collect/settings.ts';
import type { RolloutRequest } from '../engine/request/request.ts';
import { allowHere, refusePrograms } from './own-code.ts';
import { receivedSettings, SentRun } from './sent-run.ts';
import { decodeJob, encodeOutcome } from './wire.ts';
import type { OpenRun } from './worker.ts';

export interface RolloutsWorkOptions {
  concurrency: number;
  /** This machine's settings: model_url, sandbox, python. */
  own: Partial<Settings>;
  /** The folder of user code that may run here. */
  allowTools?: string | undefined;
  apiKey?: string | undefined;
  say: (message: string) => void;
}

/** Makes the rollouts of runs on this machine. */
export function rolloutsWork({ concurrency, own, allowTools, apiKey, say }: RolloutsWorkOptions): OpenRun {
  // All runs share a worker's places.
  const places = new Limiter(concurrency);
  return async (_head, data, { texts }) => {
    const run = SentRun.parse(data);
    const folder = makeTemporary('rollout-viewer-worker-');
    let runner: CodeRunner | null = null;
    let parts: OwnParts | null = null;
    const close = async () => {
      parts?.close();
      await runner?.close();
      await rm(folder, { recursive: true, force: true });
    };
    try {
      const settings = await receivedSettings(run, texts, folder, own);
      if (settings.sandbox !== undefined) runner = await openCodeRunner(settings.sandbox);
      const runCode = runner?.run;
      const root = allowTools ?? folder;
      parts = await openOwn(settings, {
        say,
        runCode,
        root,
        guest: { folder: allowTools },
        allowOwn: async (uses, files) => {
          refusePrograms(uses);
          await allowHere(run.own, files, allowTools);
        },
      });
      // A key goes only to the server that this worker names, never to one that a run names.
      const key = own.model_url === undefined ? undefined : apiKey;
      if (apiKey !== undefined && key === undefined)
        say(`${settings.model_url}: is asked without the API key, which goes to this worker's own --model-url alone`);
      const setup = await prepareRun({ settings, apiKey: key, runCode }, parts);
      // Agents and environments are found last.
      await allowHere(run.own, parts.code.files, allowTools);
      return {
        concurrency,
        make: (text, report, suspend) =>
          places.run(async () => {
            const { partial, ...job } = decodeJob(text);
            const live = {
              add: (_rollout: object, request: RolloutRequest) => {
                let isScoring = false;
                report(() => stageOf(request, isScoring));
                return {
                  scoring: () => {
                    isScoring = true;
                  },
                  end: () => {},
                };
              },
            };
            const options = { ...setup, gamma: settings.gamma ?? 1, live, suspend };
            return encodeOutcome(await makeRollout(job, { ...options, partialOf: () => partial }));
          }),
        close,
      };
    } catch (error) {
      await close();
      throw error;
    }
  };
}
