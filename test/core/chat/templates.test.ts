import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bordersOf,
  conversations,
  FAMILIES,
  renderFamily,
  stripped,
  templatesAt,
} from '../../../bench/support/conversations.ts';
import { judge } from '../../../bench/support/judge-turns.ts';

const TEMPLATES = fileURLToPath(new URL('../../../../shared/data/chat/templates', import.meta.url));

describe.skipIf(!templatesAt(TEMPLATES))('published templates (skipped without ../shared/data/chat/templates)', () => {
  test.each(FAMILIES.map((family) => [family.name, family] as const))('%s', (_, family) => {
    for (const hostile of [false, true]) {
      const verdicts = { marked: 0, stripped: 0, chars: 0, strippedChars: 0 };
      let rendered = 0;
      let wrong = 0;
      let turns = 0;
      const kinds = conversations(family, hostile, bordersOf(family, TEMPLATES));
      // npm run bench chat draws a thousand a family.
      for (const messages of fc.sample(kinds, { numRuns: 15, seed: 2 })) {
        const text = renderFamily(family, TEMPLATES, messages);
        // A template that moves what it has written before has no prompt that its conversation begins with.
        if (text === null || text.prompt === '') continue;
        rendered++;
        const marked = judge(messages, text.prompt, text.response);
        const bare = judge(messages, stripped(family, text.prompt), stripped(family, text.response));
        const shown = JSON.stringify(text);
        expect([marked.trainedForCertain, bare.trainedForCertain], shown).toEqual([0, 0]);
        wrong += hostile ? 0 : bare.wrong;
        turns += bare.turns;
        if (!hostile) expect(marked.wrong, shown).toBe(0);
        verdicts.marked += marked.known;
        verdicts.stripped += bare.known;
        verdicts.chars += marked.chars;
        verdicts.strippedChars += bare.chars;
      }
      expect(rendered).toBeGreaterThan(5);
      // A judged reading may be wrong, and rarely is; drawn words that touch look like one text, which people's do not.
      if (family.class !== 'lost') expect(wrong).toBeLessThanOrEqual(family.class === 'exact' ? 0 : turns / 50);
      if (hostile) continue;
      // Where no text reads like a header, silence is no way out.
      expect(verdicts.marked / verdicts.chars).toBeGreaterThan(0.98);
      const least = { exact: 0.98, inferred: 0.7, lost: 0 }[family.class];
      expect(verdicts.stripped / verdicts.strippedChars).toBeGreaterThanOrEqual(least);
    }
  });
});
