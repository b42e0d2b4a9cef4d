/** A recorder between agents and models: `import { startRecording } from 'rollout-viewer/record'`. */
import { modelUrlProblem } from '../../core/http/model-url.ts';
import type { JsonObject } from '../../core/json/value.ts';
import { RecordFile } from './record-file.ts';
import { RecordingProxy } from './recording-proxy.ts';
import { RolloutRecorder } from './rollout-recorder.ts';

export interface RecordingOptions {
  /** The folder of the dump, a file for each rollout. */
  out: string;
  /** The model server, with or without its /v1. */
  modelUrl: string;
  /** By default a free one. */
  port?: number;
  /** Ask the server for token ids and log probabilities. */
  tokens?: boolean;
  /** Damage and losses, in words; the agent goes on. By default they are thrown away. */
  onProblem?: (problem: string) => void;
}

/** A recorder that listens on loopback. */
export interface Recording {
  /** ANTHROPIC_BASE_URL; OPENAI_BASE_URL is this and `/v1`. */
  readonly url: string;
  /** The address for one rollout: all its requests belong to it, whatever their histories. */
  urlOf(rollout: string): string;
  /** Gives a rollout its score. @returns false if it has made no request */
  reward(rollout: string, values: JsonObject): boolean;
  /** Waits for what is being written, and ends. */
  close(): Promise<void>;
}

/** @throws TypeError for an invalid address, Error if the port is not available */
export async function startRecording({
  out,
  modelUrl,
  port = 0,
  tokens = false,
  onProblem = () => {},
}: RecordingOptions): Promise<Recording> {
  const problem = modelUrlProblem(modelUrl);
  if (problem !== null) throw new TypeError(problem);
  const recorder = new RolloutRecorder({
    open: (name) => new RecordFile(out, name, onProblem),
    isOneRollout: false,
    now: () => new Date(),
  });
  const proxy = new RecordingProxy({ modelUrl, recorder, allowHosts: [], token: null, wantsTokens: tokens, onProblem });
  const url = await proxy.listen('127.0.0.1', port);
  return {
    url,
    urlOf: (rollout) => `${url}/rollout/${encodeURIComponent(rollout)}`,
    reward: (rollout, values) => recorder.reward(rollout, values),
    async close() {
      await proxy.close();
      recorder.close();
    },
  };
}
