import { describe, expect, it } from 'vitest';
import { valuesFor } from '../../../src/core/dump/joins/train-data.ts';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { timeByKind } from '../../../src/core/rollout/times.ts';

const read = (record: object) => parseLine(JSON.stringify(record), { validation: false }).rollout!;

const nano = (seconds: number): string => `${seconds}000000000`;
const otel = (name: string, start: number, end: number, attributes: object = { 'gen_ai.operation.name': name }) => ({
  name,
  startTimeUnixNano: nano(start),
  endTimeUnixNano: nano(end),
  attributes,
});

describe('times of spans', () => {
  const line = { input: 'user\nq\nassistant\n', output: 'a' };

  it('of OpenTelemetry: by the operation; a span that holds the others adds nothing', () => {
    const { times } = read({
      ...line,
      otel_spans: [
        otel('invoke_agent', 1000, 1010),
        otel('chat', 1001, 1004, {
          'gen_ai.operation.name': 'chat',
          'gen_ai.response.time_to_first_chunk': 0.25,
        }),
        otel('execute_tool', 1004, 1006),
      ],
    });
    expect(times).toMatchObject({ started: 1000, wall: 10, firstToken: 0.25, doubt: null });
    expect(timeByKind(times!)).toEqual({ model: 3, tool: 2, queue: 0, score: 0, setup: 0, blank: 5 });
  });

  it('attributes as OTLP lists them; times written out', () => {
    const attributes = [{ key: 'gen_ai.operation.name', value: { stringValue: 'chat' } }];
    const { times } = read({
      ...line,
      otel_spans: [
        { name: 'x', start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-01T00:00:02.500Z', attributes },
        otel('chat', 0, 0, {}),
      ].slice(0, 1),
    });
    expect(timeByKind(times!)).toMatchObject({ model: 2.5, blank: 0 });
  });

  it('a first token behind the end of its request is in another unit, and left out', () => {
    const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.response.time_to_first_chunk': 250 };
    expect(read({ ...line, otel_spans: [otel('chat', 10, 12, attributes)] }).times!.firstToken).toBeUndefined();
  });

  it('spans of anything else are no times', () => {
    expect(read({ ...line, spans: [{ field: 'output', start: 0, end: 1 }] }).times).toBeUndefined();
  });

  const sample = (more: object) => ({
    rollout_id: 3,
    sample: {
      index: 7,
      prompt: 'q',
      response: 'ab',
      tokens: [1, 2, 3],
      response_length: 2,
      loss_mask: [1, 1],
      ...more,
    },
  });
  const event = (type: string, id: string, name: string, ts: number) => ({ type, span_id: id, name, ts });

  it("of slime: a span is its start and its end; one that never ended, or that holds others, has no kind's time", () => {
    const { times } = read(
      sample({
        trace: {
          events: [
            event('span_start', 'a', 'generate_and_rm', 100),
            event('span_start', 'b', 'sglang_generate', 101),
            event('span_end', 'b', 'sglang_generate', 105),
            event('span_start', 'c', 'reward_model', 105),
            event('span_end', 'c', 'reward_model', 106),
            event('span_start', 'd', 'sglang_generate', 106),
            event('span_end', 'a', 'generate_and_rm', 110),
          ],
        },
      }),
    );
    expect(times).toMatchObject({ started: 100, wall: 10 });
    expect(timeByKind(times!)).toMatchObject({ model: 4, score: 1, blank: 5 });
  });
});

describe("the trainer's values beside a sample of slime", () => {
  const sample = { index: 7, prompt: 'q', response: 'ab', tokens: [1, 2, 3], response_length: 2, loss_mask: [1, 1] };
  const withTrain = (train: object) => read({ rollout_id: 3, sample, train });

  it('are its columns where they have its length', () => {
    const rollout = withTrain({ log_probs: [-1, -2], advantages: [0.5, 0.5] });
    expect(rollout.tokens!.more).toEqual({ log_probs: [-1, -2], advantages: [0.5, 0.5] });
    expect(rollout.findings.map(({ check }) => check)).not.toContain('mask_length');
  });

  it('of another length are not shown, and said', () => {
    const rollout = withTrain({ log_probs: [-1], advantages: [0.5, 0.5] });
    expect(rollout.tokens!.more).toEqual({ advantages: [0.5, 0.5] });
    expect(rollout.findings.map(({ message }) => message)).toContain(
      "the trainer's values are not shown: log_probs has 1 for 2 tokens",
    );
  });

  it('of other tokens belong to another step, and of a slice to no whole', () => {
    expect(valuesFor({ values: { log_probs: [-1, -2] }, tokens: [1, 2, 3] }, sample)).toEqual({ log_probs: [-1, -2] });
    const other = valuesFor({ values: { log_probs: [-1, -2] }, tokens: [1, 9, 3] }, sample);
    expect(other).toEqual({ left_out: expect.stringContaining('another step') });
    const rollout = withTrain(other);
    expect(rollout.tokens!.more).toBeUndefined();
    expect(rollout.findings.map(({ message }) => message).join()).toContain('other tokens under this number');
  });
});
