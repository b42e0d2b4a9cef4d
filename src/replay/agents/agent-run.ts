import type { Rollout } from '../../core/rollout/rollout.ts';
import { type HistoryRules, requestItems } from '../../engine/record/history-items.ts';
import type { AgentRequest } from '../../engine/record/protocol.ts';
import { isReply, modelTurns, RecordedReplies, type RequestDifference } from '../../engine/record/recorded-replies.ts';
import { RecordingProxy } from '../../engine/record/recording-proxy.ts';
import { type EventSink, RolloutRecorder } from '../../engine/record/rollout-recorder.ts';
import { removeTree } from '../../sandbox/worlds/layers.ts';
import { LiveWorld } from '../../sandbox/worlds/world.ts';
import { type WorldOptions, worldPlan } from '../worlds/replay-world.ts';
import { type AgentOptions, type AgentProcess, agentVariables, startAgent } from './agent-process.ts';

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

/** An agent is ended after this time if nothing else ends it. */
const LONGEST = 24 * 3600;

/** Starts an agent in a separate world, in the image's state; the agent's tools then produce the states of the turns. */
function startInWorld(
  options: WorldOptions,
  command: string,
  address: string,
  environment: Record<string, string>,
  { say, seconds = LONGEST }: Pick<AgentOptions, 'seconds'> & { say: (text: string) => void },
): AgentProcess {
  const folder = options.store.live();
  const plan = worldPlan(options, folder, []);
  const world = new LiveWorld({ ...plan, env: { ...plan.env, ...agentVariables(address), ...environment } });
  const run = async (): Promise<number> => {
    try {
      await world.open();
      const { exit, excess, stderr } = await world.run(command, { timeLimit: seconds, merged: false });
      if (excess !== null) say(`the agent's world was ended: it took ${excess}`);
      if (exit !== 0) for (const line of stderr.toString('utf8').split('\n').filter(Boolean).slice(-5)) say(line);
      return exit ?? 137;
    } catch (error) {
      if (isStopped) return 143;
      throw error;
    } finally {
      await world.close();
      removeTree(folder);
    }
  };
  let isStopped = false;
  return {
    status: run(),
    stop: () => {
      isStopped = true;
      void world.stop();
    },
  };
}

/** The last message of the user before the first reply: agents put notes on the environment before it. */
function promptOf(rollout: Rollout): string {
  const first = modelTurns(rollout)[0]?.index ?? rollout.turns.length;
  const isAsked = (before: number) =>
    rollout.turns.findLast(({ role, index, context = 0 }) => role === 'user' && context === 0 && index < before)?.text;
  return isAsked(first) ?? isAsked(rollout.turns.length) ?? '';
}

/** How an agent writes a prompt inside other text, and back. */
const WRITTEN: readonly { write: (text: string) => string; read: (text: string) => string }[] = [
  { write: (text) => text, read: (text) => text },
  { write: (text) => text.replaceAll('"', '\\"'), read: (text) => text.replaceAll('\\"', '"') },
  { write: (text) => JSON.stringify(text).slice(1, -1), read: unescapedJson },
];

function unescapedJson(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

/**
 * The prompt that an agent got, if it puts its prompt into a text of its own, such as quotation marks or a task's template. That text is
 * known once the agent was given what it made of its prompt: then it is there twice. null if it is not.
 */
export function promptWithin(recorded: string, asked: string): string | null {
  if (recorded === '') return null;
  for (const { write, read } of WRITTEN) {
    const told = write(recorded);
    const at = asked.indexOf(told);
    if (at === -1 || asked.length === told.length) continue;
    const [before, after] = [asked.slice(0, at), asked.slice(at + told.length)];
    const isTwice =
      recorded.length >= before.length + after.length && recorded.startsWith(before) && recorded.endsWith(after);
    if (!isTwice) continue;
    const inner = recorded.slice(before.length, recorded.length - after.length);
    if (write(read(inner)) === inner) return read(inner);
  }
  return null;
}
