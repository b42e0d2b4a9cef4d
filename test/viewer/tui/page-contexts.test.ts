// Pages of one rollout: its histories, what the model saw for a turn, where the time went.
import { afterEach, describe, expect, test } from 'vitest';
import { MONO } from '../../../src/viewer/present/theme.ts';
import { pageView } from '../../../src/viewer/tui/views/panes.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen;
afterEach(() => screen.close());

const trace = (seconds: number) => ({
  nodes: [
    { message: { role: 'user', content: 'q' }, sampled: false },
    { parent: 0, message: { role: 'assistant', content: 'first' }, sampled: true },
    { parent: 1, message: { role: 'user', content: 'go on' }, sampled: false },
    { parent: 1, message: { role: 'user', content: 'or so' }, sampled: false },
    { parent: 3, message: { role: 'assistant', content: 'branch' }, sampled: true },
  ],
  rewards: { correct: { score: 1, weight: 1 } },
  timing: { start: 1000, boot: { start: 1000, end: 1001 }, scoring: { start: 1001 + seconds, end: 1002 + seconds } },
  calls: [{ node: 1, time: { start: 1001, end: 1001 + seconds } }],
});

const opened = async (): Promise<TestScreen> => {
  screen = await TestScreen.open({ '1.jsonl': [2, 8].map((seconds) => JSON.stringify(trace(seconds))) }, 120, 20);
  return screen;
};

const lines = (): string[] =>
  pageView({ state: screen.state, data: screen.data, theme: MONO, name: '' }, 120, 18).map((line) =>
    line.replace(/\x1b\[[\d;]*m/g, ''),
  );

describe('a page of one rollout', () => {
  test('its histories are behind the one that they leave, and Enter reads one', async () => {
    (await opened()).do({ type: 'page-here', page: 'contexts' });
    expect(lines()[3]).toMatch(/^› main history/);
    expect(lines()[4]).toMatch(/└ branch, after t1 +2 /);
    screen.do({ type: 'bottom', line: null }, { type: 'open' });
    expect(screen.state.page?.isAside).toBe(true);
  });

  test('what the model saw for a turn of a branch leaves out what it never saw', async () => {
    (await opened()).do({ type: 'page-open', subject: { kind: 'history', place: screen.place(0, 0), turn: 4 } });
    const shown = lines().join('\n');
    expect(shown).toContain('first');
    expect(shown).toContain('branch');
    expect(shown).not.toContain('go on');
  });

  test('the tools that the model was shown are before the turns, with their schemas', async () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: { properties: { where: {} } } } }];
    screen = await TestScreen.open({ '1.jsonl': [{ ...trace(1), tools }] }, 120, 20);
    screen.do({ type: 'page-open', subject: { kind: 'history', place: screen.place(0, 0), turn: 1 } });
    expect(lines()[1]).toMatch(/^ 1 tool · 6 characters/);
    expect(lines()[3]).toMatch(/^› +– +tool +.*"look"/);
    expect(lines()[4]).toMatch(/t0 +user/);
  });

  test('a compaction is the history before beside the one after', async () => {
    const event = (type: string, uuid: string, content: string, more: object = {}) => ({
      type,
      sessionId: 's',
      uuid,
      message: { role: type, content },
      ...more,
    });
    const events = [
      event('user', '1', 'the question'),
      event('assistant', '2', 'a long way'),
      { type: 'system', subtype: 'compact_boundary', sessionId: 's', uuid: '3' },
      event('user', '4', 'in short: it was far', { isCompactSummary: true }),
      event('user', '5', 'the question'),
      event('assistant', '6', 'the end'),
    ];
    screen = await TestScreen.open({ 's.jsonl': events }, 120, 20);
    screen.do({ type: 'page-here', page: 'contexts' }, { type: 'bottom', line: null });
    expect(lines().at(-1)).toMatch(/after a compaction.* kept 1 of 2, added 2/);
    screen.do({ type: 'page-switch' });
    const shown = lines();
    expect(shown[0]).toMatch(/kept by a compaction of .* kept 1, dropped 1, added 2/);
    expect(shown.join('\n')).toMatch(/t0 user the same +t3 user the same/);
    expect(shown.join('\n')).toMatch(/a long way/);
    expect(shown.join('\n')).toMatch(/in short: it was far/);
  });

  test('where its time went: stretches in their order, with what nothing explains', async () => {
    (await opened()).do({ type: 'page-here', page: 'times' });
    const shown = lines();
    expect(shown[0]).toMatch(/the time of .*1\.jsonl:1 +4\.0 s/);
    expect(shown[1]).toMatch(/model 2\.0 s.*score 1\.0 s.*setup 1\.0 s/);
    expect(shown[3]).toMatch(/^› +0 ms +1\.0 s +setup/);
    expect(shown[4]).toMatch(/1\.0 s +2\.0 s +model +t1/);
  });

  test('a stretch leads to all turns that were made in it, a stretch with one turn to that one', async () => {
    const call = (node: number, start: number, end: number) => ({
      node,
      time: { start: 1000 + start, end: 1000 + end },
    });
    const line = { ...trace(6), calls: [call(1, 1, 7), call(4, 2, 3)] };
    screen = await TestScreen.open({ '1.jsonl': [JSON.stringify(line)] }, 120, 20);
    screen.do({ type: 'page-here', page: 'times' });
    expect(lines()[4]).toMatch(/1\.0 s +6\.0 s +model +t1/);
    screen.do({ type: 'scroll', by: 1, unit: 'line' }, { type: 'open' });
    const shown = lines();
    expect(shown[0]).toMatch(/turns of .*1\.jsonl:1 from 1\.0 s/);
    expect(shown.filter((one) => / t\d /.test(one)).map((one) => / (t\d) /.exec(one)![1])).toEqual(['t1', 't4']);
    screen.do({ type: 'scroll', by: 1, unit: 'line' }, { type: 'open' });
    expect(screen.state.page?.isAside).toBe(true);
  });

  test('the time of a step: on one clock, the last end first, with what the step hung on', async () => {
    const at = (start: number, seconds: number) => {
      const { timing, ...rest } = trace(seconds);
      const moved = Object.fromEntries(
        Object.entries(timing).map(([key, value]) => [
          key,
          typeof value === 'number' ? value + start : { start: value.start + start, end: value.end + start },
        ]),
      );
      return {
        ...rest,
        timing: moved,
        calls: [{ node: 1, time: { start: 1001 + start, end: 1001 + start + seconds } }],
      };
    };
    screen = await TestScreen.open({ '1.jsonl': [at(0, 2), at(20, 3), at(1, 1)] }, 120, 20);
    await screen.data.dump.whenLooked();
    screen.do({ type: 'page-here', page: 'step-times' });
    const shown = lines();
    expect(shown[1]).toBe(' took 25 s; for 21 s (84 %) it hung on the last 1 of 3');
    expect(shown[2]).toBe(' sample 2 ended last, 3.0 s of its time model');
    expect(shown.slice(4, 7).map((line) => line.slice(2, 22).trim().split(/ {2,}/))).toEqual([
      ['2', '25 s'],
      ['1', '4.0 s'],
      ['3', '4.0 s'],
    ]);
    // Nothing is drawn before it began.
    expect(shown[4]).toMatch(/25 s {20,}·+█+▪+/);
  });

  test('the signal of its step is read in slices, then shown with the place of each finding', async () => {
    const line = (reward: number, mask: number[], i: number) => ({
      input: 'user\nq\nassistant\n',
      output: 'a b',
      uid: `p_${i}_0`,
      score: reward,
      response_mask: mask,
      token_level_rewards: [0, reward],
    });
    const other = { ...line(5, [1, 0], 2), step: 2 };
    screen = await TestScreen.open({ '1.jsonl': [line(1, [1, 0], 0), line(0, [1, 1], 1), other] }, 120, 20);
    screen.do({ type: 'page-here', page: 'signal' });
    expect(lines()[0]).toContain('reading 0 of 3');
    const { file } = screen.place(0, 0);
    while (screen.data.signals.of(file, 1).signal === null) await new Promise((resolve) => setImmediate(resolve));
    const shown = lines();
    expect(shown[0]).toMatch(/learning signal of step 1 +1 finding/);
    expect(shown[1]).toContain('2 rollouts in 1 group of several');
    expect(shown[2]).toContain('trained: 3 tokens: ');
    expect(shown.at(-1)).toMatch(/^› · +reward on a masked token +1:1 +reward 1 is on token 1/);
  });
});
