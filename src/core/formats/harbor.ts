import { isJsonObject, type JsonObject, objectIn } from '../json/value.ts';
import { completeRollout } from '../rollout/complete.ts';
import type { Rollout } from '../rollout/rollout.ts';
import { type AtifFrame, readAtif } from './atif.ts';
import { claudeCodeFormat } from './claude-code.ts';
import { codexFormat } from './codex.ts';
import type { Format, ReadContext } from './format.ts';
import { piFormat } from './pi.ts';
import { harborTimes } from './recorded-times.ts';
import { idOf, numberOf } from './values.ts';

/** Agents that leave their sessions as they wrote them. */
const SESSIONS: readonly Format[] = [claudeCodeFormat, codexFormat, piFormat];

/**
 * A trial of Harbor: its `result.json` with the trajectory (`trajectory`) and the related files (`linked`) of its folder, or with the
 * session (`events`) that an agent without a trajectory left. The reward is `reward`, or the only one; of several with other names none is the reward.
 */
export const harbor: Format = {
  name: 'harbor',
  isStepless: true,
  basis: 'files',
  mapping: {
    turns: "agent/trajectory.json and what it is continued in, or the agent's own session in agent/sessions/",
    score: 'verifier_result.rewards.reward, or the only one of them',
    contexts: 'agent/trajectory.*.json',
    status: 'exception_info.exception_type',
    group: 'task_name',
  },
  detects: (record) =>
    record.trial_name !== undefined && (record.verifier_result !== undefined || record.agent_info !== undefined),
  times: harborTimes,
  read(record, context) {
    const {
      trajectory: _,
      linked: _linked,
      session_of: _of,
      events: _events,
      subagents: _subagents,
      ...result
    } = record;
    const verifier = objectIn(record.verifier_result);
    const rewards = objectIn(verifier.rewards);
    const [only, ...others] = Object.values(rewards);
    const exception = objectIn(record.exception_info);
    const named = Object.fromEntries(Object.entries(rewards).map(([name, value]) => [name, numberOf(value)]));
    const status = idOf(exception.exception_type);
    // A verifier runs after the agent has ended.
    const isAborted = status !== null && !/^(?:Verif|Reward)/.test(status);
    const frame: TrialFrame = {
      format: 'harbor',
      score: numberOf(rewards.reward ?? (others.length === 0 ? only : undefined)),
      named: Object.keys(named).length > 0 ? named : null,
      uid: idOf(record.trial_name),
      group: idOf(record.task_name),
      status,
      ended: isAborted ? { how: 'aborted', evidence: `exception ${status}` } : null,
      extras: result,
    };
    return sessionRollout(record, frame, context) ?? trajectoryRollout(record, frame, context);
  },
};

type TrialFrame = Required<Omit<AtifFrame, 'messages'>>;

function trajectoryRollout(record: JsonObject, frame: TrialFrame, context: ReadContext): Rollout {
  const { trajectory, linked = {}, unread_files: unread } = record;
  const isUnread = Array.isArray(unread) && unread.length > 0;
  const text = isUnread
    ? `[the agent's actions are not read: there is no agent/trajectory.json, only ${unread.join(', ')}]`
    : '';
  const known = isJsonObject(trajectory) ? trajectory : { schema_version: 'ATIF', steps: [] };
  return readAtif({ ...known, linked, follows: true }, context, {
    ...frame,
    ...(isUnread
      ? { messages: [{ role: 'unknown', trained: null, isLost: true, texts: [{ pointer: '/unread_files', text }] }] }
      : {}),
  });
}

/** The agent's session with what the trial says of it; null if the trial has none. */
function sessionRollout(record: JsonObject, frame: TrialFrame, context: ReadContext): Rollout | null {
  const { session_of = null, events = null, subagents = null } = record;
  const session = { session_of, events, ...(subagents === null ? {} : { subagents }) };
  const reader = SESSIONS.find((format) => format.detects(session));
  if (session_of === null || reader === undefined) return null;
  const read = reader.read(session, { ...context, validation: true });
  const { score, named, group, extras, ended, ...names } = frame;
  return completeRollout(
    {
      ...read,
      ...names,
      score,
      ...(group === null ? {} : { group }),
      ended: ended ?? read.ended,
      extras: { ...read.extras, ...extras },
      rewards: { ...read.rewards, total: score, ...(named === null ? {} : { named }) },
    },
    context.errors,
  );
}
