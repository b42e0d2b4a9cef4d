// Copied text is pasted into shells, with and without bracketed paste: it arrives to the byte, and nothing of it runs.
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { scriptWord, shellInput, shellWord } from '../../../src/core/text/shell-quote.ts';
import { execute } from '../../program.ts';
import { coreOf, countOf } from '../../support/tier.ts';
import { hasShell, PastingShell, SHELLS } from './shells.ts';

const CONTROLS = [
  ...Array.from({ length: 32 }, (_, code) => code),
  0x7f,
  ...Array.from({ length: 32 }, (_, at) => 0x80 + at),
].map((code) => String.fromCharCode(code));
const INVISIBLE = ['\u2028', '\u2029', '\u202e', '\u200b', '\ufeff', '\u00ad', '\u{e0041}'];
const HOSTILE = [
  'a\rEOF\rtouch stray\r',
  "a'\ntouch stray\n'",
  "a'; touch stray; '",
  '\x1b[201~\rtouch stray\r\x1b[200~',
  '\x15touch stray\r',
  '\x18\x05',
  '\x03\rtouch stray\r',
  '\x04\x04',
  '$(touch stray)`touch stray`',
  '!!\n!touch\n^a^touch stray\n!!',
  'a\n!!\n"\n!!',
  "\\'; touch stray #",
  '\\\\\\',
  '%s %d %%',
  '-n',
  '--version',
  'a\tb\t\tc',
  'café 日本 🎉 e\u0301',
  '# a comment\n; & | > stray',
  ' leading\n\n\ntrailing\n\n',
  '~/x *? [a] {b,c}',
  "if x != y:\n    print('it\\'s')\n",
];
const CASES = [...CONTROLS.map((one) => `a${one}b`), ...INVISIBLE.map((one) => `a${one}b`), ...CONTROLS, ...HOSTILE];
const text = fc
  .array(
    fc.oneof(
      { arbitrary: fc.constantFrom(...CONTROLS, ...INVISIBLE), weight: 2 },
      {
        arbitrary: fc.constantFrom(...'\'"\\`$!^~#;&|<>(){}[]*?%-=, ', '\n', 'EOF', '_EOF\n', 'touch stray'),
        weight: 4,
      },
      fc.string({ unit: 'grapheme', maxLength: 4 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe.each(Object.keys(SHELLS))('%s', (name) => {
  const isThere = hasShell(name);
  const why = isThere ? '' : ` (skipped without ${name})`;
  const shells: PastingShell[] = [];
  afterAll(() => {
    for (const one of shells) one.end();
  });

  it.skipIf(!isThere).each([true, false])(`takes what is pasted (bracketed: %s)${why}`, async (isBracketed) => {
    const shell = new PastingShell(name);
    shells.push(shell);
    const check = async (one: string) => {
      const piped = await shell.paste(shellInput('cat > out', one), isBracketed);
      expect([one, piped.out.toString('latin1'), piped.strays]).toEqual([one, Buffer.from(one).toString('latin1'), []]);
      // No word holds a NUL.
      const word = one.replaceAll('\0', '');
      const said = await shell.paste(`printf %s ${shellWord(word)} > out`, isBracketed);
      expect([word, said.out.toString('latin1'), said.strays]).toEqual([
        word,
        Buffer.from(word).toString('latin1'),
        [],
      ]);
    };
    for (const one of coreOf(CASES, (_, at) => at % 3 === 0)) await check(one);
    await fc.assert(fc.asyncProperty(text, check), { numRuns: countOf(20, 60) });
  });

  it.skipIf(!isThere)(`takes a word of a script${why}`, async () => {
    await fc.assert(
      fc.asyncProperty(text, async (one) => {
        const word = one.replaceAll('\0', '');
        const { stdout } = await execute(name, ['-c', `printf %s ${scriptWord(word)}; printf %s ${shellWord(word)}`]);
        expect(stdout).toBe(Buffer.from(word + word).toString());
      }),
      { numRuns: 20 },
    );
  });
});
