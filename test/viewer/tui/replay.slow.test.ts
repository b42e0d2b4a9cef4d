import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { app, ask, close, journal, open, reopen, rollout, SAME, SLOW } from './replay-run.ts';

afterEach(close);

describe('what runs', () => {
  test('what runs shows its seconds at the call, and ^c ends it', async () => {
    await open({ '1.jsonl': [rollout([SLOW])] });
    await ask();
    app.press('Enter');
    await app.sees(/running [1-9]\d* s {2}\^c cancels/);
    app.press('ctrl+c');
    await app.sees('cancelled');
    await app.seesNot('running');
    app.press('l');
    await app.sees('›tool');
  });

  test.skipIf(process.platform !== 'linux')('quitting ends what runs (skipped but on Linux)', async () => {
    await open({ '1.jsonl': [rollout([SLOW])] });
    await ask();
    app.press('Enter');
    await app.sees(/running [1-9]\d* s/);
    const below = descendants(app.pid);
    expect(below.length).toBeGreaterThan(0);
    app.press('q');
    expect((await app.exits()).code).toBe(0);
    await app.until(() => below.every((pid) => !isAlive(pid)), 'the end of what ran');
    expect(app.inAlternateScreen).toBe(false);
  });

  test('a run over the list that was cancelled goes on where it was', async () => {
    const slow = { code: 'import time\ntime.sleep(2)\nprint(7)', result: '7' };
    const files = Object.fromEntries(
      Array.from({ length: 10 }, (_, i) => [`${i + 1}.jsonl`, [rollout([i === 0 ? SAME : slow], { step: i + 1 })]]),
    );
    await open(files);
    await ask();
    app.press('f');
    await app.sees('replaying');
    await app.sees('same');
    // The call under the cursor first, then everything.
    app.press('ctrl+c');
    await app.sees('this call is cancelled; once more ends the others');
    app.press('ctrl+c');
    await app.sees(/cancelled after \d+ calls?: \d+ same, 1 cancelled; ! f continues/);
    const kept = readFileSync(join(journal(), 'replay.jsonl'), 'utf8').trim().split('\n').length;
    expect(kept).toBeLessThan(10);
    app.press('q');
    await app.exits();
    // A later session knows what is done.
    await reopen();
    await ask();
    await app.sees(`f list ${kept} of 10 done`);
    app.press('f');
    await app.sees(`${kept} of 10 done, continues`);
    await app.sees('10 calls: 10 same');
    const lines = readFileSync(join(journal(), 'replay.jsonl'), 'utf8').trim().split('\n');
    expect(lines).toHaveLength(10);
    app.press('q');
    await app.exits();
    await reopen();
    await app.sees(/10 +1 +1\.00.*same/);
    await app.sees(/ 7 +1 +1\.00.*same/);
  });

  test('^c ends the call under the cursor, and leaves the others alone', async () => {
    await open({ '1.jsonl': [rollout([{ ...SLOW, code: SLOW.code.replace('25', '1') }, SLOW])] }, [], { rows: 40 });
    await ask();
    app.press('a');
    await app.sees('queued');
    app.press('$', 'h');
    await app.sees('t5/t6');
    app.press('ctrl+c');
    await app.seesNot('queued');
    await app.sees('again: same');
    await app.sees('2 calls: 1 same, 1 cancelled');
  });
});

describe('calls that share a state', () => {
  const CELLS = [
    { code: 'x = 3', result: '(no output)' },
    { code: 'import time\ntime.sleep(2)\ny = x + 4', result: '(no output)' },
    { code: 'print(x + y)', result: '10' },
  ];

  test('s runs the calls before it first, in one notebook, and shows them as such', async () => {
    await open({ '1.jsonl': [rollout(CELLS)] }, [], { rows: 40 });
    app.press('$', 'h');
    await ask();
    await app.sees('! code_interpreter t6, call 3 of 3 on');
    await app.sees('s session');
    app.press('s');
    await app.sees('t6, call 3 of 3, after calls 1 and 2 on');
    app.press('Enter');
    await app.sees(/runs first, for t6[\s\S]*runs first, for t6[\s\S]*running/);
    await app.sees('again: with 2 calls before it in the same session');
    await app.sees('again: same');
    await app.seesNot('runs first');
    app.press('h', 'h');
    // Run by itself it fails, and the record proves that it ran in their session.
    app.press('$', 'h');
    await ask();
    await app.sees('s session');
    app.press('Enter');
    await app.sees('in a session with call');
  });

  test('--session begins with it, and a runs all of them so', async () => {
    await open({ '1.jsonl': [rollout(CELLS)] }, ['--session'], { rows: 40 });
    app.press('$', 'h');
    await ask();
    await app.sees('after calls 1 and 2');
    await app.sees('s alone');
    app.press('a');
    await app.sees('again: with 1 call before it in the same session');
    await app.sees('again: with 2 calls before it in the same session');
    expect(app.screen()).not.toContain('NameError');
  });
});

/** The processes below one, read from /proc. */
function descendants(pid: number): number[] {
  const found = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  return found.flatMap((child) => [child, ...descendants(child)]);
}

/** A process that has ended and was not asked for its status yet (a zombie) does nothing any more. */
function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
