/** Writing systems, as far as they are distinguished. Mathematical symbols and Greek letters occur in texts of any. */
export const SCRIPTS = [
  'latin',
  'han',
  'kana',
  'hangul',
  'cyrillic',
  'arabic',
  'hebrew',
  'devanagari',
  'thai',
  'other',
] as const;
type Script = (typeof SCRIPTS)[number];

/** Languages by their English names: a prompt that names one may ask for its script. */
const LANGUAGES: Partial<Record<Script, RegExp>> = {
  han: /\b(?:chinese|mandarin|cantonese|japanese|hanzi|kanji)\b/i,
  kana: /\b(?:japanese|hiragana|katakana)\b/i,
  hangul: /\b(?:korean|hangul)\b/i,
  cyrillic:
    /\b(?:russian|ukrainian|bulgarian|serbian|belarusian|macedonian|kazakh|kyrgyz|tajik|mongolian|tatar|cyrillic)\b/i,
  arabic: /\b(?:arabic|persian|farsi|urdu|pashto|kurdish|uyghur|sindhi)\b/i,
  hebrew: /\b(?:hebrew|yiddish)\b/i,
  devanagari: /\b(?:hindi|marathi|nepali|sanskrit|maithili|devanagari)\b/i,
  thai: /\bthai\b/i,
  other:
    /\b(?:armenian|georgian|amharic|tigrinya|bengali|bangla|assamese|punjabi|gujarati|odia|oriya|tamil|telugu|kannada|malayalam|sinhala|lao|tibetan|burmese|cherokee)\b/i,
};

export const namesLanguageOf = (text: string, script: number): boolean =>
  LANGUAGES[SCRIPTS[script] ?? 'latin']?.test(text) === true;

const RANGES: readonly (readonly [number, number, Script])[] = [
  [0xc0, 0x24f, 'latin'],
  [0x400, 0x52f, 'cyrillic'],
  [0x530, 0x58f, 'other'],
  [0x590, 0x5ff, 'hebrew'],
  [0x600, 0x6ff, 'arabic'],
  [0x750, 0x77f, 'arabic'],
  [0x900, 0x97f, 'devanagari'],
  [0x980, 0xdff, 'other'],
  [0xe00, 0xe7f, 'thai'],
  [0xe80, 0x10ff, 'other'],
  [0x1100, 0x11ff, 'hangul'],
  [0x1200, 0x13ff, 'other'],
  [0x1e00, 0x1eff, 'latin'],
  [0x3041, 0x30ff, 'kana'],
  [0x3400, 0x4dbf, 'han'],
  [0x4e00, 0x9fff, 'han'],
  [0xac00, 0xd7a3, 'hangul'],
  [0xf900, 0xfaff, 'han'],
];

/**
 * The script of each UTF-16 unit, as an index into SCRIPTS, without ASCII; -1 if it is not a letter of one. A table,
 * because texts are scanned letter by letter.
 */
export const SCRIPT_OF: Int8Array = scriptTable();

function scriptTable(): Int8Array {
  const table = new Int8Array(1 << 16).fill(-1);
  for (const [from, to, script] of RANGES) table.fill(SCRIPTS.indexOf(script), from, to + 1);
  return table;
}

/** Whether a text has a letter of a non-ASCII script, by its index in SCRIPTS. */
export function hasScript(text: string, script: number): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 127 && SCRIPT_OF[code] === script) return true;
  }
  return false;
}
