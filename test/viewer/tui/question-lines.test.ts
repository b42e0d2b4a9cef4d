import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cellWidth } from '../../../src/core/text/graphemes.ts';
import { type Piece, piecesWidth, renderPieces, wrapPieces } from '../../../src/viewer/present/line.ts';
import { MONO } from '../../../src/viewer/present/theme.ts';
import { questionLines } from '../../../src/viewer/tui/questions/question-lines.ts';
import { unstyled } from '../../../src/viewer/tui/screen/fitted.ts';

const shown = (lines: readonly (readonly Piece[])[], width: number): string[] =>
  lines.map((line) => unstyled(renderPieces(MONO, line, width)));
/** The words that a person reads, however they are wrapped. */
const words = (lines: readonly string[]): string => lines.join(' ').replace(/\s+/g, ' ');

const agent = (command: string, more: object = {}) =>
  ({
    kind: 'fork',
    place: null,
    turn: 12,
    edited: null,
    model: { name: 'm', url: 'http://localhost:8000/v1' },
    settings: { n: 1, texts: {} },
    reward: null,
    wish: null,
    agent: { command, isOnTerminal: false },
    where: null,
    inWorld: null,
    confirm: null,
    ...more,
  }) as never;

const HERE = { name: 'bubblewrap', why: 'here', asks: null, problem: null, before: [] as number[], stateful: false };
const UNCONFINED = {
  ...HERE,
  ...{ name: 'this program', why: 'with all your rights', asks: ', with all your rights?' },
};

const call = (more: object) =>
  ({
    kind: 'call',
    place: null,
    call: 2,
    turn: 6,
    name: 'f',
    edited: undefined,
    repeat: 1,
    session: false,
    calls: 3,
    rollouts: 5120,
    marked: null,
    known: null,
    where: HERE,
    confirm: null,
    ...more,
  }) as never;

describe('a question', () => {
  test('says where something runs, whatever the size of the window and the length of names and commands', () => {
    const sizes = fc.record({ width: fc.integer({ min: 40, max: 220 }), rows: fc.integer({ min: 10, max: 60 }) });
    const text = fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.string({ maxLength: 3000, unit: 'grapheme' }),
      fc.constant('x'.repeat(5000)),
    );
    const kind = fc.constantFrom(
      agent,
      (name: string) => call({ name, where: UNCONFINED }),
      (name: string) => call({ name, where: UNCONFINED, confirm: 'all' }),
    );
    fc.assert(
      fc.property(sizes, text, kind, ({ width, rows }, name, question) => {
        const { what, keys } = questionLines(question(name), width, rows);
        expect(what.length + keys.length).toBeLessThanOrEqual(Math.max(1 + keys.length, Math.floor(rows / 2)));
        expect(words(shown(what, width))).toContain('with all your rights');
        expect(words(shown(keys, width))).toContain('Esc close');
        for (const line of shown([...what, ...keys], width)) expect(cellWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });

  test('of an agent is whole at 80 and at 40 columns', () => {
    const command = 'python my_agent.py --task tasks/first.json --workdir /tmp/agent';
    const text = `a here, with all your rights: continue from t12 with the agent ${command}; then http://localhost:8000/v1`;
    for (const width of [40, 80]) {
      const { what, keys } = questionLines(agent(command), width, 24);
      expect(words(shown(what, width)).trim()).toBe(text);
      expect(words(shown(keys, width)).trim()).toBe(
        'Enter one branch 2-9 branches t terminal a agent e/E edit w image Esc close',
      );
    }
    const wish = { image: 'rootfs:/host', network: true };
    expect(words(shown(questionLines(agent(command, { wish }), 80, 24).what, 80))).toContain(
      'a in rootfs:/host, with the network: continue',
    );
  });
});

test('wrapped pieces lose no character but blanks at a break, and keep their styles', () => {
  const piece = fc.tuple(
    fc.constantFrom('plain', 'strong', 'quiet'),
    fc.stringMatching(/^[a-z日 ]{0,30}$/),
  ) as fc.Arbitrary<Piece>;
  const cells = (pieces: readonly Piece[]): string =>
    pieces.flatMap(([style, text]) => [...text.replaceAll(' ', '')].map((letter) => style[0] + letter)).join('');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.integer({ min: 4, max: 60 }), (pieces, width) => {
      const lines = wrapPieces(pieces, width, 1000);
      expect(cells(lines.flat())).toBe(cells(pieces));
      for (const line of lines) expect(piecesWidth(line)).toBeLessThanOrEqual(width);
      expect(cells(wrapPieces(pieces, width, 2).flat())).toBe(cells(pieces));
      expect(wrapPieces(pieces, width, 2).length).toBeLessThanOrEqual(2);
    }),
  );
});

describe('a question about a call', () => {
  const lines = (more: object): string[] => {
    const { what, keys } = questionLines(call(more), 200, 24);
    return shown([...what, ...keys], 200);
  };

  test('says what would run and where, and the keys that there are', () => {
    expect(lines({})).toEqual([
      ' ! f t6, call 3 of 3 on bubblewrap (here)',
      ' Enter run  e/E edit  i ask  a all 3  f list 5,120  k ×1  s session  Tab next  Esc close',
    ]);
    expect(lines({ calls: 1, call: 0 })[1]).toBe(' Enter run  e/E edit  i ask  a all  f list 5,120  k ×1  Esc close');
  });

  test.each<[number[], string]>([
    [[0], 'after call 1'],
    [[0, 1], 'after calls 1 and 2'],
    [[0, 1, 2, 3], 'after calls 1 to 4'],
    [[0, 2, 3], 'after 3 calls'],
  ])('that come before it: %j', (before, said) => {
    expect(lines({ where: { ...HERE, before } })[0]).toContain(`, ${said} on`);
  });

  test('cannot be run where there is a problem, but for edited arguments', () => {
    const problem = { ...HERE, problem: 'no tool' };
    expect(lines({ where: problem })).toEqual([
      ' ! f t6, call 3 of 3  cannot run: no tool',
      expect.not.stringContaining('Enter'),
    ]);
    expect(lines({ where: problem, edited: {} })).toEqual([
      ' ! f t6, call 3 of 3 edited on bubblewrap (here)',
      expect.stringContaining('Enter'),
    ]);
    expect(lines({ where: null })[1]).not.toContain('Enter');
  });

  test('knows what is done of the list', () => {
    expect(lines({ known: 7 })[1]).toContain('f list 7 of 5,120 done  F again');
    expect(lines({ known: 5120 })[1]).not.toContain('F again');
  });

  test('on a server many calls are asked for once more', () => {
    expect(lines({ confirm: 'all', where: { ...HERE, name: 'http://a', asks: '?' } })).toEqual([
      ' ! run all 3 calls of this rollout on http://a?',
      ' y run  Esc close',
    ]);
    expect(lines({ confirm: 'list', where: null })).toEqual([
      ' ! run the calls of 5,120 rollouts  finding a sandbox …',
      ' Esc close',
    ]);
  });
});
