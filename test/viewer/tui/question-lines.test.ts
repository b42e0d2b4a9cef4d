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

const call = (name: string, confirm: 'all' | null) =>
  ({
    kind: 'call',
    place: null,
    call: 0,
    turn: 2,
    name,
    edited: undefined,
    repeat: 1,
    session: false,
    calls: 3,
    rollouts: 5120,
    marked: null,
    known: null,
    where: {
      name: 'this program',
      why: 'with all your rights',
      asks: ', with all your rights?',
      problem: null,
      before: [],
      stateful: false,
    },
    confirm,
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
      (name: string) => call(name, null),
      (name: string) => call(name, 'all'),
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
