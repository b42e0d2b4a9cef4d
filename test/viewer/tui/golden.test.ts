import { basename, dirname } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { cellWidth } from '../../../src/core/text/graphemes.ts';
import { App, type Cell } from '../../support/driver/app.ts';
import { smallRun, writeDump } from '../../support/dump.ts';

const run = writeDump(smallRun(3, 8));

const search = (query: string): string =>
  `<tool_call>\n${JSON.stringify({ name: 'search', arguments: { query } })}\n</tool_call>`;
const TRACEBACK = 'Traceback (most recent call last):\n  File "x.py", line 3, in <module>\n\tfind(key)\nKeyError: "年"';
/** A rollout in which much went wrong, in several scripts. */
const broken = writeDump({
  '1.jsonl': [
    {
      input: 'user\nכמה עולה תפוח? 苹果多少钱？ 🍎👩‍👩‍👧\nassistant\n',
      output: `${search('apples')}\n${search('苹果')}\n${search('pears')}\nuser\n<tool_response>\n三十 ¥\n</tool_response>\n<tool_response>\n${TRACEBACK}\n</tool_response>\nassistant\n<tool_call>\n{"name": "search", "arguments": {"query": 1,}}\n</tool_call>\n<think>\n再想一想，\x1b[2J也许`,
      gts: '30',
      score: 0,
      step: 1,
    },
  ],
});
afterAll(() => {
  run.remove();
  broken.remove();
});

const SIZES = [
  [80, 24],
  [120, 36],
  [200, 50],
] as const;

const LOOKS: Record<string, Record<string, string>> = {
  colour: { TERM: 'xterm-256color', COLORTERM: 'truecolor' },
  '16-colours': { TERM: 'xterm-16color', COLORTERM: '' },
  'no-color': { TERM: 'xterm-256color', NO_COLOR: '1' },
};

/** How colours are drawn does not depend on the size. */
const SCREENS = SIZES.flatMap(([columns, rows]) =>
  Object.entries(LOOKS)
    .filter(([look]) => look === 'colour' || columns === 120)
    .map(([look, env]) => ({ columns, rows, look, env })),
);

const VIEWS = ['chat', 'raw', 'json', 'fields'] as const;

function looks(cell: Cell): string {
  const words = [];
  if (cell.colour !== null) words.push(`fg${cell.colour}`);
  if (cell.background !== null) words.push(`bg${cell.background}`);
  for (const word of ['bold', 'dim', 'inverse', 'underline'] as const) if (cell[word]) words.push(word);
  return words.join('+');
}

/**
 * The screen, and below it how each run of cells that is not plain is drawn. Of the details, the lists of checks are left
 * out: they grow with each finding.
 */
function picture(app: App, columns: number): string {
  const screen = app.lines();
  const checks = screen.findIndex((line) => /│ {2}passed {2}/.test(line));
  const lines = screen.map((line, y) =>
    checks !== -1 && y >= checks && y < screen.length - 1 ? line.slice(0, line.lastIndexOf('│') + 1) : line,
  );
  const styles: string[] = [];
  lines.forEach((line, y) => {
    const runs: string[] = [];
    let from = 0;
    let look = '';
    const end = Math.min(columns, cellWidth(line));
    for (let x = 0; x <= end; x++) {
      const next = x === end ? '' : looks(app.cell(x, y));
      if (next === look) continue;
      if (look !== '') runs.push(`${from}-${x - 1} ${look}`);
      from = x;
      look = next;
    }
    if (runs.length > 0) styles.push(`${y}: ${runs.join(', ')}`);
  });
  return `${lines.join('\n')}\n${'─'.repeat(columns)}\n${styles.join('\n')}\n`;
}

for (const { columns, rows, look, env } of SCREENS) {
  test(`what went wrong at ${columns}×${rows}, ${look}`, async () => {
    const app = App.start([basename(broken.dir)], { columns, rows, env, cwd: dirname(broken.dir) });
    try {
      await app.sees('▌›assistant');
      await app.until(
        () =>
          /t1\/t4/.test(app.screen()) && /tool errors/.test(app.screen()) && !/indexing|checking/.test(app.screen()),
        'all that is counted',
      );
      await app.idle();
      await expect(picture(app, columns)).toMatchFileSnapshot(`../golden/wrong-${columns}x${rows}-${look}.txt`);
    } finally {
      await app.stop();
    }
  });

  test(`each view at ${columns}×${rows}, ${look}`, async () => {
    const app = App.start([basename(run.dir)], { columns, rows, env, cwd: dirname(run.dir) });
    const matches = async (view: string): Promise<void> => {
      await app.idle();
      await expect(picture(app, columns)).toMatchFileSnapshot(`../golden/${view}-${columns}x${rows}-${look}.txt`);
    };
    try {
      await app.sees('▌›assistant');
      // Groups are known, and every line is counted, before a picture is taken.
      app.press('4', 'v');
      await app.sees(/advantage +\S+ {2}recomputed/);
      await app.until(
        () =>
          /24 rollouts/.test(app.screen()) &&
          (columns < 120 || /tool errors/.test(app.screen())) &&
          !/indexing|checking|\d +·/.test(app.screen()),
        'all that is counted',
      );
      await matches('details');
      const signs = [/▌›assistant/, / ›assistant/, /›▾ \{/, /›input/];
      // From the details round to the first.
      app.press('3', 'v');
      for (const [i, view] of VIEWS.entries()) {
        if (i > 0) app.press('v');
        await app.sees(signs[i]!);
        await matches(view);
      }
    } finally {
      await app.stop();
    }
  });
}
