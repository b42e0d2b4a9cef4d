import { isJsonObject, type JsonObject, objectIn } from '../json/value.ts';
import type { Context } from '../rollout/rollout.ts';
import { anyMessages } from './any-message.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { type Format, NO_TRAINING } from './format.ts';
import { summed } from './langchain.ts';
import { lostMessage } from './lost-line.ts';
import { callUsage } from './payload.ts';
import { timesBetween } from './span-times.ts';
import { traceSeconds } from './spans.ts';
import { idOf, objectsOf } from './values.ts';

/** A session folder of Strands Agents: `session.json` with the messages of each agent below it. */
export const strands: Format = messageFormat({
  name: 'strands',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'agents/*/messages/message_N.json',
    contexts: 'the agents',
    system: 'system_prompt of agent.json',
    uid: 'session_id',
  },
  detects: (record) => record.session_id !== undefined && typeof record.session_type === 'string',
  find(record) {
    const messages: FoundMessage[] = [];
    const contexts: Context[] = [];
    const usages: JsonObject[] = [];
    const moments: number[] = [];
    for (const [i, agent] of objectsOf(record.agents).entries()) {
      const head = objectIn(agent.agent);
      contexts.push({
        kind: contexts.length === 0 ? 'main' : 'subagent',
        name: idOf(head.agent_id ?? agent.name ?? null),
        after: null,
      });
      const said: FoundMessage[] =
        typeof head.system_prompt === 'string'
          ? [
              {
                role: 'system',
                trained: false,
                texts: [{ pointer: `/agents/${i}/agent/system_prompt`, text: head.system_prompt }],
              },
            ]
          : [];
      for (const [j, held] of objectsOf(agent.messages).entries()) {
        const lost = lostMessage(held, `/agents/${i}/messages/${j}`);
        if (lost !== null) {
          said.push(lost);
          continue;
        }
        const redacted = isJsonObject(held.redact_message) ? held.redact_message : null;
        const one = redacted ?? (isJsonObject(held.message) ? held.message : held);
        said.push(...anyMessages(one, `/agents/${i}/messages/${j}/message`));
        if (isJsonObject(one.metadata) && isJsonObject(one.metadata.usage)) usages.push(one.metadata.usage);
        const at = traceSeconds(held.created_at);
        if (at !== null) moments.push(at);
      }
      messages.push(...said.map((one) => ({ ...one, context: contexts.length - 1 })));
    }
    return {
      known: new Set(['agents', 'session_id']),
      messages,
      hasCallsApart: true,
      contexts,
      uid: idOf(record.session_id ?? null),
      extras: summed(usages.flatMap((one) => callUsage(one) ?? [])),
      times: timesBetween(moments),
    };
  },
});
