/** One press, or one paste. */
export interface Key {
  /** 'j', 'J', 'space', 'enter', 'esc', 'up', 'ctrl+d', 'alt+x', 'shift+tab', 'f1', 'paste', 'report' … */
  name: string;
  /** The character, or the pasted text; '' for keys that type nothing. */
  text: string;
  /** The bytes as they came. */
  raw: string;
}

const NAMED: Record<string, string> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\x1b': 'esc',
  ' ': 'space',
  '\0': 'ctrl+space',
};

const CSI_LETTER: Record<string, string> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  Z: 'shift+tab',
  P: 'f1',
  Q: 'f2',
  R: 'f3',
  S: 'f4',
};

const CSI_NUMBER: Record<string, string> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
  11: 'f1',
  12: 'f2',
  13: 'f3',
  14: 'f4',
  15: 'f5',
  17: 'f6',
  18: 'f7',
  19: 'f8',
  20: 'f9',
  21: 'f10',
  23: 'f11',
  24: 'f12',
};

export const PASTE_BEGIN = '\x1b[200~';
const PASTE_END = '\x1b[201~';
const SEQUENCE = /^\x1b(?:\[([0-9;<?]*)([A-Za-z~])|O([A-Za-z]))/;
/** A prefix that more bytes may complete. */
const UNFINISHED = /^\x1b(?:\[[0-9;<?]*|O)?$/;

export const REPORT_BEGIN = '\x1b]';
/** An answer of the terminal (OSC); a control character ends one that was cut off. */
const REPORT = /^\x1b\]\d+;[^\x00-\x1f\x7f\x9c]*(?:\x07|\x1b\\|\x9c)?/;
const UNFINISHED_REPORT = /^\x1b\](?:\d*|\d+;[^\x00-\x1f\x7f\x9c]*\x1b?)$/;
/** Characters that no answer exceeds. */
const LONGEST_REPORT = 4096;

function modified(name: string, parameter: string | undefined): string {
  const bits = Number(parameter ?? 1) - 1;
  if (!(bits > 0)) return name;
  return `${bits & 4 ? 'ctrl+' : ''}${bits & 2 ? 'alt+' : ''}${bits & 1 ? 'shift+' : ''}${name}`;
}

function sequenceName(match: RegExpExecArray): string {
  const [, parameters = '', final = '', ss3] = match;
  if (ss3 !== undefined) return CSI_LETTER[ss3] ?? 'unknown';
  if (parameters.startsWith('<')) return 'mouse';
  const [first, second] = parameters.split(';');
  const name = final === '~' ? CSI_NUMBER[first ?? ''] : CSI_LETTER[final];
  return name === undefined ? 'unknown' : modified(name, second);
}

function single(character: string): Key {
  const code = character.codePointAt(0) ?? 0;
  const name = NAMED[character];
  if (name !== undefined) return { name, text: name === 'space' ? ' ' : '', raw: character };
  if (code < 0x20) return { name: `ctrl+${String.fromCharCode(code + 0x40).toLowerCase()}`, text: '', raw: character };
  return { name: character, text: character, raw: character };
}

/**
 * Decodes keys from terminal input. `rest` is an unfinished sequence, to be prepended to the next bytes; with `final` (no more bytes came
 * in time) it is decoded too, which distinguishes a lone Esc from the start of an arrow key.
 */
export function decodeKeys(input: string, final: boolean): { keys: Key[]; rest: string } {
  const keys: Key[] = [];
  let at = 0;
  while (at < input.length) {
    const tail = input.slice(at, at + 64);
    if (tail.startsWith(PASTE_BEGIN)) {
      const end = input.indexOf(PASTE_END, at);
      if (end === -1 && !final) return { keys, rest: input.slice(at) };
      const stop = end === -1 ? input.length : end;
      const text = input.slice(at + PASTE_BEGIN.length, stop).replace(/\r\n?/g, '\n');
      at = end === -1 ? stop : stop + PASTE_END.length;
      keys.push({ name: 'paste', text, raw: text });
      continue;
    }
    if (tail.startsWith(REPORT_BEGIN)) {
      const text = input.slice(at, at + LONGEST_REPORT);
      if (!final && text.length < LONGEST_REPORT && UNFINISHED_REPORT.test(text))
        return { keys, rest: input.slice(at) };
      const [raw] = REPORT.exec(text) ?? [];
      if (raw !== undefined) {
        keys.push({ name: 'report', text: '', raw });
        at += raw.length;
        continue;
      }
    }
    const match = SEQUENCE.exec(tail);
    if (match !== null) {
      keys.push({ name: sequenceName(match), text: '', raw: match[0] });
      at += match[0].length;
      continue;
    }
    if (!final && UNFINISHED.test(input.slice(at))) return { keys, rest: input.slice(at) };
    if (tail[0] === '\x1b' && tail.length > 1 && tail[1] !== '\x1b') {
      const key = single(String.fromCodePoint(tail.codePointAt(1) ?? 0));
      keys.push({ name: `alt+${key.name}`, text: '', raw: `\x1b${key.raw}` });
      at += 1 + key.raw.length;
      continue;
    }
    const key = single(String.fromCodePoint(tail.codePointAt(0) ?? 0));
    keys.push(key);
    at += key.raw.length;
  }
  return { keys, rest: '' };
}

/** Alt with a key looks like Esc immediately followed by that key; a slow line turns one into the other. */
export const afterEsc = ({ raw }: Key): Key[] => [
  { name: 'esc', text: '', raw: '\x1b' },
  ...decodeKeys(raw.slice(1), true).keys,
];
