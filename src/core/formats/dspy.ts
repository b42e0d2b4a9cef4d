import { isJsonObject, objectIn, stringIn } from '../json/value.ts';
import { endedByReason } from '../rollout/ended.ts';
import { resultText } from './any-message.ts';
import { resultMessage } from './blocks.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { contentText } from './content-text.ts';
import type { Format } from './format.ts';
import { summed } from './langchain.ts';
import { callUsage, payloadOf } from './payload.ts';
import { idOf } from './values.ts';

/** An entry of DSPy's `lm.history`: the request beside its outputs. */
export const dspyHistory: Format = messageFormat({
  name: 'dspy-history',
  isUntrained: true,
  basis: 'files',
  mapping: {
    turns: 'messages (else prompt), then outputs[0]',
    usage: 'usage',
    ended: 'response.choices[0].finish_reason',
  },
  detects: (record) =>
    Array.isArray(record.outputs) &&
    record.kwargs !== undefined &&
    (record.messages !== undefined || record.prompt !== undefined),
  find(record) {
    const { messages: list, prompt } = record;
    const asked = payloadOf(
      Array.isArray(list) && list.length > 0 ? list : prompt,
      Array.isArray(list) && list.length > 0 ? '/messages' : '/prompt',
      'user',
    );
    const answer = payloadOf(record.response, '/response', 'assistant');
    const [output] = Array.isArray(record.outputs) ? record.outputs : [];
    const said: FoundMessage[] =
      typeof output === 'string'
        ? [{ role: 'assistant', texts: [{ pointer: '/outputs/0', text: output }] }]
        : payloadOf(output, '/outputs/0', 'assistant').messages;
    const finish = answer.finish;
    const usage = callUsage(record.usage) ?? answer.usage ?? null;
    return {
      known: new Set(['messages', 'prompt', 'outputs', 'response', 'usage']),
      messages: [...asked.messages, ...(answer.messages.length > 0 ? answer.messages : said)],
      hasCallsApart: true,
      uid: idOf(record.uuid ?? null),
      ended: finish === undefined ? null : endedByReason('finish', finish),
      extras: summed(usage === null ? [] : [usage]),
    };
  },
});

/** A prediction of DSPy's ReAct: thoughts, tools and observations by number, then the answer. */
export const dspyPrediction: Format = messageFormat({
  name: 'dspy',
  isUntrained: true,
  basis: 'files',
  mapping: {
    turns: 'trajectory.thought_N with its tool, then reasoning and the answer',
    'results of tools': 'trajectory.observation_N',
  },
  detects: ({ trajectory }) =>
    isJsonObject(trajectory) &&
    Object.keys(trajectory).some((key) => /^(?:thought|tool_name|observation)_0$/.test(key)),
  find(record) {
    const trajectory = objectIn(record.trajectory);
    const messages: FoundMessage[] = [];
    const inputs = ['question', 'input', 'task', 'query'].filter((key) => typeof record[key] === 'string');
    for (const key of inputs)
      messages.push({ role: 'user', trained: false, texts: [{ pointer: `/${key}`, text: stringIn(record[key]) }] });
    const steps = Object.keys(trajectory).flatMap(
      (key) => /^(?:thought|tool_name|observation)_(\d{1,6})$/.exec(key)?.[1] ?? [],
    );
    for (const step of [...new Set(steps.map(Number))].sort((a, b) => a - b)) {
      const name = idOf(trajectory[`tool_name_${step}`] ?? null);
      const thought = contentText(trajectory[`thought_${step}`]);
      messages.push({
        role: 'assistant',
        texts: thought === '' ? [] : [{ pointer: `/trajectory/thought_${step}`, text: thought, isThought: true }],
        ...(name === null
          ? {}
          : { calls: [{ id: String(step), name, arguments: trajectory[`tool_args_${step}`] ?? {} }] }),
      });
      const observed = trajectory[`observation_${step}`];
      if (observed === undefined) continue;
      const text = resultText(observed);
      const failed = /^Execution error in /.test(text);
      messages.push(
        resultMessage(
          String(step),
          `/trajectory/observation_${step}`,
          text,
          failed ? { isFailure: true, evidence: text.slice(0, 80) } : undefined,
        ),
      );
    }
    const reasoning = typeof record.reasoning === 'string' ? record.reasoning : '';
    const known = new Set(['trajectory', 'reasoning', ...inputs]);
    const answers = Object.entries(record).filter(([key, value]) => !known.has(key) && typeof value === 'string');
    if (reasoning !== '' || answers.length > 0)
      messages.push({
        role: 'assistant',
        texts: [
          ...(reasoning === '' ? [] : [{ pointer: '/reasoning', text: reasoning, isThought: true }]),
          ...answers.map(([key, value]) => ({ pointer: `/${key}`, text: String(value) })),
        ],
      });
    for (const [key] of answers) known.add(key);
    return { known, messages, hasCallsApart: true };
  },
});
