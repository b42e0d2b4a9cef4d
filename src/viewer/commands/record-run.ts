import { UsageError } from '../../core/dump/paths.ts';
import { isLoopback, newToken } from '../../core/http/guard.ts';
import { modelUrlProblem } from '../../core/http/model-url.ts';
import { reasonOf } from '../../core/text/problems.ts';
import { RecordFile } from '../../engine/record/record-file.ts';
import { RecordingProxy } from '../../engine/record/recording-proxy.ts';
import { RolloutRecorder } from '../../engine/record/rollout-recorder.ts';
import { startAgent } from '../../replay/agents/agent-process.ts';
import { DONE, print, say } from './output.ts';

export interface RecordFlags {
  out: string;
  modelUrl: string;
  host: string;
  port?: number;
  allowHost?: string[];
  tokens?: boolean;
}

/** @returns the exit status of the command; 0 without one. @throws UsageError */
export async function record(command: readonly string[], flags: RecordFlags): Promise<number> {
  const problem = modelUrlProblem(flags.modelUrl);
  if (problem !== null) throw new UsageError(problem);
  const said = new Set<string>();
  const onProblem = (text: string): void => {
    if (said.size < 100 && !said.has(text)) say(text);
    said.add(text);
  };
  const recorder = new RolloutRecorder({
    open: (name) => new RecordFile(flags.out, name, onProblem),
    isOneRollout: command.length > 0,
    now: () => new Date(),
  });
  const token = isLoopback(flags.host) ? null : newToken();
  const proxy = new RecordingProxy({
    modelUrl: flags.modelUrl,
    recorder,
    allowHosts: [flags.host, ...(flags.allowHost ?? [])],
    token,
    wantsTokens: flags.tokens === true,
    onProblem,
  });
  let address: string;
  try {
    address = `${await proxy.listen(flags.host, flags.port ?? 0)}${token === null ? '' : `/t/${token}`}`;
  } catch (error) {
    throw new UsageError(`--host ${flags.host} --port ${flags.port ?? 0}: ${reasonOf(error)}`);
  }
  try {
    if (command.length > 0) return await startAgent(command, address).status;
    await print(`recording to ${flags.out}\n  OPENAI_BASE_URL=${address}/v1\n  ANTHROPIC_BASE_URL=${address}\n`);
    await new Promise<void>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
    });
    return DONE;
  } finally {
    await proxy.close();
    recorder.close();
  }
}
