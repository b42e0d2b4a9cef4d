import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { cellWidth } from '../../../src/core/text/graphemes.ts';
import { diffTexts, type ReplayOutcome } from '../../../src/replay/index.ts';
import type { WorldOutcome } from '../../../src/replay/worlds/replay-world.ts';
import { type BranchView, NOTHING_RUN, type RolloutReplay } from '../../../src/viewer/present/replay/view.ts';
import { withReplay } from '../../../src/viewer/present/replay/with-replay.ts';
import { MONO } from '../../../src/viewer/present/theme.ts';
import { type Folds, transcriptSections } from '../../../src/viewer/present/transcript/blocks.ts';
import { Layout } from '../../../src/viewer/present/transcript/layout.ts';
import { renderTranscript } from '../../../src/viewer/present/transcript/render.ts';
import { blocksOf } from '../../support/blocks-of.ts';
import { toolRollout } from '../../support/dump.ts';

const rollout = parseLine(JSON.stringify(toolRollout(1, 1, 1)), { validation: false }).rollout!;

function outcome(recorded: string, result: string, stderr: string): ReplayOutcome {
  const attempt = {
    reward: null,
    result,
    stdout: result,
    stderr,
    exit_status: 1,
    duration: 0.014,
    run_time: null,
    verdict: 'different' as const,
    error: null,
    at: '2026-01-01T00:00:00Z',
  };
  return {
    locator: 'x.jsonl:1',
    turn: 2,
    call: 0,
    name: 'code_interpreter',
    backend: 'bubblewrap',
    status: 'drift',
    verdict: 'different',
    compared: 'whole',
    reason: stderr,
    recorded: { text: recorded, reward: null, metrics: null },
    result: { text: result, reward: null, metrics: null },
    environment: null,
    attempts: [attempt, attempt],
    outcomes: [
      { result, count: 1, verdict: 'different' },
      { result: stderr, count: 1, verdict: null },
    ],
    time: { min: 0.01, median: 0.014, max: 0.02 },
    edited: false,
    predecessors: [],
    arguments: { code: result },
  };
}

function shown(replay: RolloutReplay, width = 60): string[] {
  const open: Folds = new Map([['t3.again0.standing.run', false]]);
  const blocks = withReplay(transcriptSections(rollout, open), rollout, replay, open);
  const layout = new Layout(blocks, width, open);
  return renderTranscript(layout, 0, layout.rows, MONO, { turn: null });
}

const withOutcome = (standing: ReplayOutcome, edits: ReplayOutcome[] = []): RolloutReplay => ({
  ...NOTHING_RUN,
  calls: new Map([[0, { underway: null, standing, edits, reported: [] }]]),
});

const SGR = /\x1b\[[\d;]*m/g;
const text = (lines: readonly string[]): string => lines.join('\n').replace(SGR, '');

describe('what was run again, beside the record', () => {
  test('a rollout without runs looks as recorded', () => {
    const sections = [...transcriptSections(rollout, new Map())];
    const again = withReplay(sections, rollout, NOTHING_RUN, new Map());
    expect([...blocksOf(again)]).toEqual([...blocksOf(sections)]);
  });

  test('the verdict is at the edge of the result, the difference and the run below it', () => {
    const lines = shown(withOutcome(outcome('a\nleft is 20', 'a\nleft is 21', 'Boom')), 80);
    const all = text(lines);
    expect(all).toMatch(/tool ← code_interpreter +again: different, 2 runs, 10 ms to 20 ms, bubblewrap\n/);
    expect(all).toContain('- left is 20\n  + left is 21');
    expect(all).toContain('▾ run again: exit status 1, 14 ms, stdout 2 lines, stderr 1 line');
    expect(all).toContain('1 × different: a␊left is 21');
  });

  test('a running call says so at the call; a queued one waits', () => {
    const underway = { kind: 'running', since: 1000, attempt: 1, of: 3, edited: true } as const;
    const replay = { calls: new Map([[0, { underway, standing: null, edits: [], reported: [] }]]), now: 4200 };
    expect(text(shown({ ...NOTHING_RUN, ...replay }))).toMatch(
      /code_interpreter {2}→ 99 +running edited 2\/3 3 s {2}\^c cancels/,
    );
  });

  test('text from tools and models never reaches the terminal as it is, and no line is too wide', () => {
    const hostile = fc.array(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 30 }),
        fc.constantFrom('\x1b[2J', '\x1b]0;x\x07', '\u202e', '\n', '\t', '计算'),
      ),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(hostile, hostile, hostile, fc.integer({ min: 40, max: 120 }), (recorded, result, stderr, width) => {
        const one = outcome(recorded.join(''), result.join(''), stderr.join(''));
        const branch: BranchView = {
          uid: 'b0',
          branch: 0,
          turn: 2,
          model: result.join(''),
          status: 'FAILED',
          score: null,
          judged: stderr.join(''),
          error: stderr.join(''),
          turns: [{ role: stderr.join(''), text: result.join(''), calls: [{ name: 'x', text: stderr.join('') }] }],
          difference: { turn: 2, offset: 0, diff: diffTexts(one.recorded?.text ?? '', one.result?.text ?? '') ?? [] },
          prefix: null,
          changed: [result.join('')],
          isEdited: false,
          isNew: true,
        };
        const { world } = inWorld(recorded.join(''), result.join(''));
        const lines = shown({ ...withOutcome(one, [one]), world, branches: [branch] }, width);
        for (const line of lines) {
          const plain = line.replace(SGR, '');
          expect(plain).not.toMatch(/[\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
          expect(cellWidth(plain)).toBeLessThanOrEqual(width);
        }
      }),
      { numRuns: 60 },
    );
  });
});

const inWorld = (recorded: string, result: string): RolloutReplay => {
  const outcome: WorldOutcome = {
    ...{ call: 0, turn: 2, name: 'bash', verdict: 'drift', rules: [], tainted: true, exit: 0, recorded_exit: null },
    ...{ reason: 'exit status 0, recorded 1', recorded, result, seconds: 0.014, processes: [`sleep ${result}`] },
    changed: [{ path: `/w/${result}`, type: 'file', mode: '0644', size: 1, sha256: null, change: 'modified' }],
  };
  const at = { turn: 2, resultTurn: 3, image: 'rootfs:/task', underway: null };
  return { ...NOTHING_RUN, world: new Map([[0, { ...at, outcome, edits: [{ text: result, outcome }] }]]) };
};

test('a call in its world: verdict and image beside the result, below it the difference and what it changed', () => {
  const lines = text(shown(inWorld('4', 'five'), 90));
  expect(lines).toMatch(/tool ← code_interpreter +again: drift, tainted, 14 ms, rootfs:\/task\n/);
  expect(lines).toMatch(
    /again: exit status 0, recorded 1\n\s+- 4\n\s+\+ five\n\s+~ \/w\/five\n\s+still running, in no layer: sleep five\n/,
  );
  expect(lines).toMatch(/edited, run 1: drift.*\n\s+five\n/);
});
