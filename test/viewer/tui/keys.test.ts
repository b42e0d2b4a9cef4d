import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeKeys } from '../../../src/viewer/tui/screen/keys.ts';

const names = (input: string, final = true): string[] => decodeKeys(input, final).keys.map((key) => key.name);

describe('keys', () => {
  test('are known by name', () => {
    expect(names('jJ \r\t\x7f')).toEqual(['j', 'J', 'space', 'enter', 'tab', 'backspace']);
    expect(names('\x1b[A\x1bOB\x1b[5~\x1b[Z\x1b[1;5C')).toEqual(['up', 'down', 'pageup', 'shift+tab', 'ctrl+right']);
    expect(names('\x04\x1a\x1bx')).toEqual(['ctrl+d', 'ctrl+z', 'alt+x']);
    expect(names('计🙂')).toEqual(['计', '🙂']);
  });

  test('Esc alone is distinguished from the beginning of an arrow key, which may come in two pieces', () => {
    expect(decodeKeys('\x1b', false)).toEqual({ keys: [], rest: '\x1b' });
    expect(names('\x1b')).toEqual(['esc']);
    const first = decodeKeys('\x1b[', false);
    expect(first.keys).toEqual([]);
    expect(names(`${first.rest}A`, false)).toEqual(['up']);
    expect(names('\x1b\x1b')).toEqual(['esc', 'esc']);
  });

  test('a paste is one key, whatever it holds', () => {
    const { keys } = decodeKeys('\x1b[200~q\r\nx\x1b[201~j', false);
    expect(keys.map((key) => [key.name, key.text])).toEqual([
      ['paste', 'q\nx'],
      ['j', 'j'],
    ]);
  });

  test('an answer of the terminal is no key, whatever is in it and wherever it ends', () => {
    expect(names('j\x1b]11;rgb:ff/ff/ff\x07k')).toEqual(['j', 'report', 'k']);
    expect(names('\x1b]11;q j dd\x1b\\k')).toEqual(['report', 'k']);
    expect(names('\x1b]11;cut off\x1b[A')).toEqual(['report', 'up']);
    expect(names('\x1b]11;cut off\rj')).toEqual(['report', 'enter', 'j']);
    expect(names('\x1b]11;cut off')).toEqual(['report']);
    expect(decodeKeys('\x1b]11;rgb:ff', false).rest).toBe('\x1b]11;rgb:ff');
    expect(names('\x1b]')).toEqual(['alt+]']);
    expect(names('\x1b]j', false)).toEqual(['alt+]', 'j']);
  });

  test('however the bytes are cut, the keys are the same', () => {
    const piece = fc.constantFrom(
      'j',
      'G',
      ' ',
      '\r',
      '\x1b[A',
      '\x1b[5~',
      '\x1b[1;5C',
      '\x1bOB',
      '\x1b[200~a\rb\x1b[201~',
      '计',
      '\x04',
      '\x1b]11;rgb:ffff/ffff/ffff\x07',
      '\x1b]11;rgb:1c1c/1c1c/1c1c\x1b\\',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(60), { maxLength: 5 }), (pieces, cuts) => {
        const input = pieces.join('');
        const at = [...new Set(cuts.map((cut) => Math.min(cut, input.length)))].sort((a, b) => a - b);
        const found: string[] = [];
        let rest = '';
        for (const [i, end] of [...at, input.length].entries()) {
          const result = decodeKeys(rest + input.slice(i === 0 ? 0 : at[i - 1], end), false);
          found.push(...result.keys.map((key) => key.name));
          rest = result.rest;
        }
        found.push(...decodeKeys(rest, true).keys.map((key) => key.name));
        expect(found).toEqual(names(input));
      }),
    );
  });
});
