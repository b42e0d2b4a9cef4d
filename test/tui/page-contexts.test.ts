// Pages of one rollout: its histories, what the model saw for a turn, where the time went.
import { afterEach, describe, expect, test } from 'vitest';
import { MONO } from '../../src/present/theme.ts';
import { pageView } from '../../src/tui/views/page.ts';
import { TestScreen } from '../support/screen.ts';

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
  pageView({ state: screen.state, data: screen.data, theme: MONO, name: '', pending: '' }, 120, 18).map((line) =>
    line.replace(/\x1b\[[\d;]*m/g, ''),
  );

describe('a page of one rollout', () => {
  test('its histories stand behind the one that they leave, and Enter reads one', async () => {
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

  test('where its time went: stretches in their order, with what nothing explains', async () => {
    (await opened()).do({ type: 'page-here', page: 'times' });
    const shown = lines();
    expect(shown[0]).toMatch(/the time of .*1\.jsonl:1 +4\.0 s/);
    expect(shown[1]).toMatch(/model 2\.0 s.*score 1\.0 s.*setup 1\.0 s/);
    expect(shown[3]).toMatch(/^› +0 ms +1\.0 s +setup/);
    expect(shown[4]).toMatch(/1\.0 s +2\.0 s +model +t1/);
  });

  test('what its step taught is read in slices, then told with the place of each finding', async () => {
    const line = (reward: number, mask: number[], i: number) => ({
      input: 'user\nq\nassistant\n',
      output: 'a b',
      uid: `p_${i}_0`,
      score: reward,
      response_mask: mask,
      token_level_rewards: [0, reward],
    });
    screen = await TestScreen.open({ '1.jsonl': [line(1, [1, 0], 0), line(0, [1, 1], 1)] }, 120, 20);
    screen.do({ type: 'page-here', page: 'signal' });
    expect(lines()[0]).toContain('reading 0 of 2');
    const { file } = screen.place(0, 0);
    while (screen.data.signals.of(file).signal === null) await new Promise((resolve) => setImmediate(resolve));
    const shown = lines();
    expect(shown[0]).toMatch(/what 1 taught +1 finding/);
    expect(shown[1]).toMatch(/2 rollouts in 1 group of several · trained 3 tokens/);
    expect(shown.at(-1)).toMatch(/^› · +1 {2}reward on a masked token +reward 1 stands on token 1/);
  });
});
