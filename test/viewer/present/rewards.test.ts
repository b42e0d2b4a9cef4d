import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { formatOf } from '../../../src/core/formats/registry.ts';
import type { JsonObject } from '../../../src/core/json/value.ts';
import { MONO } from '../../../src/viewer/present/theme.ts';
import { transcriptSections } from '../../../src/viewer/present/transcript/blocks.ts';
import { detailBlocks } from '../../../src/viewer/present/transcript/details-view.ts';
import { Layout } from '../../../src/viewer/present/transcript/layout.ts';
import { renderTranscript } from '../../../src/viewer/present/transcript/render.ts';
import { unpaused } from '../../../src/viewer/present/transcript/section.ts';
import { App } from '../../support/driver/app.ts';
import { writeDump } from '../../support/dump.ts';
import { recordedRollout } from '../../support/recorded-rollout.ts';

const plain = { ...MONO };
for (const key of Object.keys(plain) as (keyof typeof plain)[]) plain[key] = '';

const read = (record: object) => formatOf(record as JsonObject)!.read(record as JsonObject, { validation: false });
function lines(record: object, advantage: number | null = null, width = 60): string[] {
  const layout = new Layout(transcriptSections(read(record), new Map(), { advantage }), width);
  return renderTranscript(layout, 0, layout.rows, plain, { turn: null }).map((line) => line.trimEnd());
}
const details = (record: object, advantage: number | null = null): string[] =>
  [
    ...unpaused(
      detailBlocks({
        rollout: read(record),
        locator: '1.jsonl:1',
        unread: [],
        bytes: 100,
        fileStep: 1,
        group: '',
        groupFrom: 'alone',
        advantage,
        labels: [],
      }),
    ),
  ].map(({ label, text }) => `${label}${text}`);

describe('recorded rewards', () => {
  test('are at the right edge of the turn that earned them, the return beside them', () => {
    const shown = lines(recordedRollout({ turn_rewards: [null, 0.1, null, 1], returns: [null, 0.35, null, 1] }));
    expect(shown.find((line) => /assistant.*0\.10/.test(line))).toMatch(/^▌ assistant +\+0\.10 {2}return 0\.35$/);
    expect(shown.filter((line) => /return/.test(line))).toHaveLength(2);
    for (const line of shown.filter((line) => /return/.test(line))) expect(line).toHaveLength(60);
  });

  test('a return alone, and a reward alone', () => {
    const shown = lines(recordedRollout({ turn_rewards: [null, null, null, -1], returns: [null, -0.9, null, null] }));
    expect(shown.filter((line) => line.startsWith('▌ assistant'))).toEqual([
      expect.stringMatching(/^▌ assistant +return -0\.90$/),
      expect.stringMatching(/^▌ assistant +-1\.00$/),
    ]);
  });

  test('lists that fit no turn are shown whole, and laid on none', () => {
    const record = recordedRollout({ turn_rewards: [0.1, 0.2], returns: null });
    expect(lines(record)).toContain('  turn_rewards [0.1, 0.2], unaligned');
    expect(lines(record).join('\n')).not.toContain('+0.');
    expect(details(record)).toContain('turn_rewards [0.1, 0.2]  recorded, fits no turns');
  });

  test('the numbers of the rollout appear once at its end, each with where it comes from', () => {
    const end = lines(recordedRollout({}), 1.49999).slice(-4);
    expect(end).toEqual([
      '  score 1.00',
      '  advantage +1.50, recomputed from score',
      '  ground truth 4',
      expect.stringMatching(/^ {2}loss mask \d+ % \(recorded, characters\)$/),
    ]);
    expect(lines(recordedRollout({}), -0.000001)).toContain('  advantage +0.00, recomputed from score');
    expect(lines(recordedRollout({})).join('\n')).not.toContain('advantage');
  });

  test('the details list them by turn', () => {
    const record = recordedRollout({ turn_rewards: [null, 0.1, null, 1], returns: [null, 0.35, null, 1] });
    const shown = details(record, 1.5);
    expect(shown).toContain('rewards t1 +0.10, t3 +1.00  recorded');
    expect(shown.join('\n')).toMatch(/returns t1 0\.35, t3 1\.00 {2}recorded/);
    expect(shown.join('\n')).toMatch(/group none {2}alone/);
    expect(shown.join('\n')).toMatch(
      /loss mask \d+ % trained, \d+ of \d+ characters {2}recorded while the rollout was made/,
    );
  });
});

describe('on the screen', () => {
  const scores = [2, 0, 0, 0];
  const run = writeDump({ '1.jsonl': scores.map((score, i) => recordedRollout({ score, uid: `k_${i}_0` })) });
  afterAll(() => run.remove());
  let app: App;
  afterEach(() => app.stop());

  test('rewards, returns and the advantage in its group', async () => {
    app = App.start([run.dir], { columns: 120 });
    await app.sees('▌›assistant');
    await app.sees(/-0\.05 {2}return 0\.95$/m);
    await app.sees('advantage +1.50, recomputed from score');
    app.press('J');
    await app.sees('advantage -0.50, recomputed from score');
  });
});
