import type { Rollout } from '../../core/rollout/rollout.ts';
import { type HistoryRules, requestItems } from '../../engine/record/history-items.ts';
import type { AgentRequest } from '../../engine/record/protocol.ts';
import { isReply, RecordedReplies, type RequestDifference } from '../../engine/record/recorded-replies.ts';
import { RecordingProxy } from '../../engine/record/recording-proxy.ts';
import { type EventSink, RolloutRecorder } from '../../engine/record/rollout-recorder.ts';
import type { WorldOptions } from '../worlds/replay-world.ts';
import { type AgentOptions, startAgent } from './agent-process.ts';
import { promptOf, promptWithin } from './agent-prompt.ts';
import { startInWorld } from './agent-world.ts';

/** How an agent is started, and who hears of it. */
export interface AgentWatch extends Pick<AgentOptions, 'seconds' | 'isQuiet' | 'onError'> {
  signal?: AbortSignal | undefined;
  say: (text: string) => void;
  /** The record has answered a request with this turn; null: the model is asked. */
  onRequest?: ((turn: number | null) => void) | undefined;
}

/** An agent that runs against a record. */
export interface AgentRun {
  rollout: Rollout;
  command: string;
  rules: HistoryRules;
  edited?: ReadonlyMap<number, string> | undefined;
  /** From this turn on the live model answers; null: it never does. */
  liveFrom: { turn: number; modelUrl: string } | null;
  open: (name: string) => EventSink;
  /** The world that the agent runs in; null: this machine. */
  world: WorldOptions | null;
}

export interface AgentOutcome {
  difference: RequestDifference | null;
  /** Turns that a model wrote, and those of them that the agent asked for. */
  turns: readonly number[];
  asked: ReadonlySet<number>;
  isLive: boolean;
  status: number;
}

/** Starts the agent; its requests are answered from the record as long as they are the recorded ones. @throws UsageError */
export async function runAgent(run: AgentRun, watch: AgentWatch): Promise<AgentOutcome> {
  const { outcome, within } = await runWith(promptOf(run.rollout), true, run, watch);
  return within === null ? outcome : (await runWith(within, false, run, watch)).outcome;
}

/** @returns in `within` the prompt to start over with, because the agent puts its prompt into a text of its own */
async function runWith(
  prompt: string,
  isFirst: boolean,
  { rollout, command, rules, edited, liveFrom, open, world }: AgentRun,
  { signal, say, onRequest, seconds, isQuiet = true, onError }: AgentWatch,
): Promise<{ outcome: AgentOutcome; within: string | null }> {
  const replies = new RecordedReplies(rollout, rules, edited);
  let difference: RequestDifference | null = null;
  let isLive = false;
  let within: string | null = null;
  let stop: (() => void) | null = null;
  const recorder = new RolloutRecorder({ open, isOneRollout: true, now: () => new Date() });
  const proxy = new RecordingProxy({
    modelUrl: liveFrom?.modelUrl ?? null,
    recorder,
    allowHosts: [],
    token: null,
    wantsTokens: false,
    onProblem: say,
    answerOf(request) {
      const answer = replies.answer(request);
      if (isReply(answer)) {
        const isEdited = edited?.has(answer.turn) === true;
        const isBefore = liveFrom === null || answer.turn < liveFrom.turn || isEdited;
        isLive ||= !isBefore || isEdited;
        onRequest?.(isBefore ? answer.turn : null);
        return isBefore ? { reply: answer } : null;
      }
      if (isLive) {
        onRequest?.(null);
        return null;
      }
      if (isFirst && replies.asked.length === 0) within ??= promptIn(prompt, request);
      if (within === null) difference ??= answer;
      // The agent reads the refusal first.
      setTimeout(() => stop?.(), 200);
      return { refusal: 'rollout-viewer: this request is not the recorded one', isKept: within === null };
    },
  });
  const cancel = (): void => stop?.();
  const address = await proxy.listen('127.0.0.1', 0);
  try {
    signal?.throwIfAborted();
    const environment = { ROLLOUT_VIEWER_PROMPT: prompt };
    const agent =
      world === null
        ? startAgent(['sh', '-c', command], address, {
            environment,
            needsKeys: liveFrom === null,
            isQuiet,
            seconds,
            onError,
          })
        : startInWorld(world, command, address, environment, { say, seconds });
    stop = agent.stop;
    signal?.addEventListener('abort', cancel, { once: true });
    const status = await agent.status;
    const outcome = { difference, turns: replies.turns, asked: new Set(replies.asked), isLive, status };
    return { outcome, within: signal?.aborted === true ? null : within };
  } finally {
    signal?.removeEventListener('abort', cancel);
    await proxy.close();
    recorder.close();
  }
}

/** The prompt that the agent wraps in the messages of a user; null if it wraps none. */
function promptIn(recorded: string, { messages }: AgentRequest): string | null {
  for (const { role, text } of requestItems(messages)) {
    const found = role === 'user' ? promptWithin(recorded, text) : null;
    if (found !== null) return found;
  }
  return null;
}

/** A difference in words. */
export const differenceText = ({ turn, at }: RequestDifference): string =>
  `the request for t${turn}, in its message ${at}`;
