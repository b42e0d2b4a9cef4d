// The line of this program's own dumps: short, and as much as the whole record.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { packLine, toolsFile, toolsHash, unpackLine } from '../../../src/core/formats/engine-line.ts';
import { parseJson } from '../../../src/core/json/parse.ts';
import { printJson } from '../../../src/core/json/print.ts';
import type { JsonObject } from '../../../src/core/json/value.ts';
import { type RequestOptions, RolloutRequest, rolloutRecord } from '../../../src/engine/index.ts';
import { byteTokenizer, IM_END } from '../../engine/byte-tokenizer.ts';
import { call, fakeModel } from '../../engine/fake-model.ts';
import { fakeTool } from '../../engine/fake-tool.ts';
import { directoryWith } from '../../program.ts';

const judgement = { name: 'gsm8k', score: 1, metadata: {}, error: null };
const context = {
  rollout: 0,
  step: 3,
  model: 'm',
  gamma: 1,
  judgement,
  task: { key: 'k', groundTruth: '4', dataSource: 'gsm8k' },
};

async function recordOf(options: Partial<RequestOptions>, more = {}): Promise<JsonObject> {
  const request = new RolloutRequest({
    model: fakeModel(() => ({ text: 'hm' })).model,
    messages: [{ role: 'user', content: 'What is 2 + 2?' }],
    tools: [fakeTool('run', ({ code }) => `said: ${code}`)],
    ...options,
  } as RequestOptions);
  await request.run();
  // As a reader of JSON has it: what is undefined is not there.
  return parseJson(printJson(rolloutRecord(request, { ...context, ...more }))) as JsonObject;
}

const replies = (...texts: string[]) => fakeModel((_, number) => ({ text: texts[number] ?? 'done' })).model;
const exactly = (record: JsonObject) => unpackLine(parseJson(printJson(packed(record))) as JsonObject, record.tools);
const packed = (record: JsonObject): JsonObject => {
  const line = packLine(record);
  return record.tools === undefined || line.tools === undefined ? line : { ...line, tools: toolsHash('t') };
};
/** A line of version 1, made with the writer of version 2. */
const whole = (record: JsonObject) => ({ ...record, writer: 'rollout-viewer/2' });

const long = 'a long text that is in the line once and never a second time, whatever holds it: '.repeat(3);

describe('a packed line', () => {
  it.each([
    [
      'calls in the text',
      { model: replies(`Let me see.\n${call('run', { code: long })}`, call('run', { code: '1' }), '#### 4') },
    ],
    [
      'two calls in a turn, one unknown',
      { model: replies(`${long}${call('run', { code: 'a' })}\n${call('walk', {})}`) },
    ],
    ['a call that is no JSON', { model: replies('<tool_call>\n{"name": "run", "arguments": {\n</tool_call>') }],
    ['no tools at all', { model: replies(long), tools: [] }],
    ['a result that is cut', { model: replies(call('run', { code: long })), limits: { max_tool_response_length: 50 } }],
    ['a turn limit', { model: replies(call('run', { code: '1' })), limits: { max_assistant_turns: 1 } }],
    [
      'several given messages',
      {
        messages: [
          { role: 'system', content: long },
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b' },
          { role: 'user', content: '' },
        ],
      },
    ],
    [
      'native calls and reasoning',
      {
        model: fakeModel((_, number) =>
          number > 0
            ? { text: 'yes' }
            : {
                text: long,
                reasoning: `${long}?`,
                promptTokens: 9,
                completionTokens: 5,
                toolCalls: [
                  { id: 'xyz', type: 'function', function: { name: 'run', arguments: '{"code":  "spaces"}' } },
                ],
              },
        ).model,
      },
    ],
  ] as [string, Partial<RequestOptions>][])('%s: read again it is the whole record', async (_, options) => {
    const record = await recordOf(options);
    expect(exactly(record)).toEqual(whole(record));
  });

  it.each([0.5, 1])('rewards of turns, with a discount of %d', async (gamma) => {
    const tool = fakeTool('run', () => ({ response: { text: 'ok' }, reward: 0.25, metrics: { lines: 1 } }));
    const model = replies(call('run', {}), call('run', {}), 'end');
    const record = await recordOf({ model, tools: [tool] }, { gamma });
    expect(record.returns).not.toEqual([null, null, null, null, null, null]);
    expect(exactly(record)).toEqual(whole(record));
  });

  it('ids are kept, and log probabilities as 32-bit numbers in their fewest digits', async () => {
    const tokenizer = byteTokenizer();
    const model = fakeModel(() => {
      const ids = [...tokenizer.encode('so it is'), IM_END];
      return { text: 'so it is', ids, logprobs: ids.map((_, index) => Math.fround(-0.1 * index)) };
    }, true).model;
    const record = await recordOf({ model, tokenizer, tools: [] });
    const { rollout_log_probs: shown, ...line } = packLine(record);
    expect(shown).toEqual([0, -0.1, -0.2, -0.3, -0.4, -0.5, -0.6, -0.7, -0.8]);
    expect((shown as number[]).map(Math.fround)).toEqual(record.rollout_log_probs);
    expect(line).toMatchObject({ prompt_ids: record.prompt_ids, response_ids: record.response_ids });
    expect(line.response_mask).toEqual(record.response_mask);
  });

  it('whatever is said, it is the whole record', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'binary', maxLength: 90 }), { minLength: 1, maxLength: 4 }),
        async (said) => {
          const record = await recordOf({
            model: replies(...said.map((text, at) => (at % 2 ? text : text + call('run', { code: text })))),
            limits: { max_assistant_turns: 5 },
          });
          expect(exactly(record)).toEqual(whole(record));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('holds each long text once, and little beside them', async () => {
    const record = await recordOf({ model: replies(`${long}${call('run', { code: long.slice(5) })}`, `${long}!`) });
    const line = printJson(packed(record));
    expect(line.split(JSON.stringify(long).slice(1, -1)).length - 1).toBe(2);
    expect(line.split(long.slice(5, 200)).length - 1).toBe(4);
    const text = String(record.input).length + String(record.output).length;
    expect(line.length - text).toBeLessThan(900);
  });

  it('reads its tools from the file beside it; without the file they are unknown, and the rest is as ever', async () => {
    const record = await recordOf({ model: replies(call('run', { code: 'x' })) });
    const text = printJson(record.tools);
    const line = printJson({ ...packLine(record), tools: toolsHash(text) });
    const directory = directoryWith({});
    const turns = (path: string) => parseLine(line, { validation: false, directory: path }).rollout!;
    expect(turns(directory).toolSchemas).toEqual([]);
    expect(turns(directory).turns).toHaveLength(4);
    const other = directoryWith({});
    mkdirSync(join(other, '.rollout-viewer'));
    writeFileSync(join(other, toolsFile(toolsHash(text))), text);
    expect(turns(other).toolSchemas).toEqual(record.tools);
    expect(turns(other).turns[1]!.toolCalls).toMatchObject([{ name: 'run', arguments: { code: 'x' }, resultTurn: 2 }]);
  });

  it.each([
    '{"writer":"rollout-viewer/2","input":"a","output":"b","score":1,"spans":"0:1","messages":[{"role":"user"}]}',
    '{"writer":"rollout-viewer/2","input":"a","output":"b","score":1,"spans":"0=1 1*1","messages":[{"role":"user"},{"role":"assistant","content_at":[5,900]}],"tool_calls":[{"turn":"x","raw_at":[3]},7]}',
    '{"writer":"rollout-viewer/2","input":"a","output":"b","score":1,"spans":"0=1 1*1","messages":[{},[],null],"generations":{"turn":7},"tools":"../../etc/passwd","turn_rewards":"no"}',
    '{"writer":"rollout-viewer/2","input":"a","output":"b","score":1,"spans":7,"messages":{},"generations":[1],"reward":[]}',
  ])('that is not what it says is still a row: %s', (line) => {
    const { rollout, error } = parseLine(line, { validation: false, directory: '/nowhere' });
    expect(error).toBeNull();
    expect(rollout!.texts).toMatchObject({ input: 'a', output: 'b' });
  });
});
