// The terminal is asked for its background once, after the first frame; only a right answer in time changes the theme.
import { afterAll, afterEach, expect, test } from 'vitest';
import { isLightAnswer } from '../../../src/viewer/tui/screen/background.ts';
import { App, type StartOptions } from '../../support/driver/app.ts';
import { smallRun, writeDump } from '../../support/dump.ts';

const QUESTION = '\x1b]11;?\x1b\\';
/** The cursor's colour, of a palette for any background and of the one for white. */
const ANY = 6;
const ON_WHITE = 25;

const run = writeDump(smallRun(2, 8));
afterAll(() => run.remove());
let app: App;
afterEach(() => app?.stop());

/** The program in a terminal that answers as soon as it is asked. */
async function answeredBy(answer: string, env: Record<string, string> = {}): Promise<void> {
  const options: StartOptions = { env: { COLORFGBG: '', TMUX: '', ...env } };
  app = App.start([run.dir], {
    ...options,
    onData: (data) => {
      if (data.includes(QUESTION) && answer !== '') app.type(answer);
    },
  });
  await app.sees('h/l turn');
  await app.until(() => app.output.includes(QUESTION), 'the question');
  await app.idle();
}

const colour = (): number | null => {
  const { x, y } = app.find('›');
  return app.cell(x, y).colour;
};

test('a light background that the terminal states changes the theme, and no byte of it is a key', async () => {
  await answeredBy('\x1b]11;rgb:ffff/ffff/f0f0\x1b\\');
  expect(colour()).toBe(ON_WHITE);
  await app.seesNot('does nothing here');
  expect(app.output.split(QUESTION)).toHaveLength(2);
  expect(app.output.indexOf(QUESTION)).toBeGreaterThan(app.output.indexOf('\x1b[?2026l'));
});

test.each([
  ['no answer', '', {}],
  ['a dark background', '\x1b]11;rgb:1c1c/1c1c/1c1c\x07', {}],
  ['a late answer', '\x1b]11;rgb:ffff/ffff/ffff\x07', { ROLLOUT_VIEWER_ANSWER_MS: '-1' }],
  ['rubbish', '\x1b]11;Jqqq:!xdd\x07', {}],
  ['an answer to another question', '\x1b]10;rgb:ffff/ffff/ffff\x07', {}],
])('%s changes nothing', async (_name, answer, env) => {
  await answeredBy(answer, env);
  expect(colour()).toBe(ANY);
  expect(app.screen()).not.toContain('does nothing here');
  app.press('J');
  await app.sees('sample 2/');
});

test('the answer is not waited for: keys typed before it act', async () => {
  await answeredBy('J\x1b]11;rgb:ffff/ffff/ffff\x07J');
  await app.sees('sample 3/');
  expect(colour()).toBe(ON_WHITE);
});

test.each([[{ ROLLOUT_VIEWER_THEME: 'dark' }], [{ NO_COLOR: '1' }], [{ TERM: 'linux' }]])(
  'with %o nothing is asked',
  async (env) => {
    app = App.start([run.dir], { env });
    await app.sees('h/l turn');
    await app.idle();
    expect(app.output).not.toContain(']11;');
  },
);

test('an answer is a colour in one of four widths', () => {
  for (const [report, isLight] of [
    ['\x1b]11;rgb:f/f/f\x07', true],
    ['\x1b]11;rgb:fd/f6/e3\x1b\\', true],
    ['\x1b]11;rgba:0000/2b2b/3636/ffff\x07', false],
    ['\x1b]11;rgb:ffff/ffff\x07', null],
    ['\x1b]11;rgb:ffff/ffff/ffff', null],
    ['\x1b]11;#ffffff\x07', null],
  ] as const)
    expect([report, isLightAnswer(report)]).toEqual([report, isLight]);
});
