import { lazily } from '../../core/text/lazily.ts';

/** Frequent short words that one language has and English, code and the others' lists mostly do not. */
const WORDS: Readonly<Record<string, string>> = {
  German:
    'und nicht ist das dann wir der eine einen auf mit für sich auch noch weil wenn aber sind wird haben oder nach zum zur vom daher also jetzt müssen diese ich',
  French:
    'les est que dans nous pour avec donc une des sur qui pas alors mais cette plus sont être parce aux fait trouve où maintenant ensuite',
  Spanish:
    'que los las una para con por entonces más porque pero como son esta ahora hay tenemos cada del el siguiente está también muy',
  Portuguese:
    'que não uma para com por então mais porque mas como são esta agora há temos cada dos das ao pelo também muito você o é',
  Italian:
    'che non una per con sono quindi più perché ma come questo della dei gli abbiamo allora anche ogni adesso il è poi dobbiamo',
  Dutch: 'het een niet van dat wij voor met zijn dus ook maar omdat dan nog wordt hebben deze naar moeten nu als',
  Polish: 'nie się jest że na więc dla jak ale przez oraz to są ponieważ teraz mamy musimy który które tego',
  Turkish: 've bir bu için ile olarak çünkü daha sonra değil olan kadar şimdi ise biz her ne gibi',
  Indonesian: 'yang dan dari untuk dengan ini adalah tidak maka karena kita akan pada jadi juga atau itu lalu',
  Vietnamese: 'là và của có cho các không được này một với để thì ta từ trong đó vậy',
  Swedish: 'och att det är inte som en på för med av den till vi har också eller nu måste därför',
};

/** Words from here on do not begin with a Latin letter. */
const FIRST_OTHER = '\u0370';

const LANGUAGES: readonly string[] = Object.keys(WORDS);

/** The languages of a word, by number. */
const ofWord: () => ReadonlyMap<string, readonly number[]> = lazily(languageTable);

function languageTable(): Map<string, number[]> {
  const table = new Map<string, number[]>();
  for (const [number, language] of LANGUAGES.entries())
    for (const word of (WORDS[language] ?? '').split(' ')) table.set(word, [...(table.get(word) ?? []), number]);
  return table;
}

/** So many different words of one language are no coincidence. */
const DIFFERENT = 4;
/** A name or a quotation in a long text is not its language. */
const SHARE = 0.015;

/** Languages, or scripts of several, by their letters; Japanese has Han letters too. */
const scripts = lazily((): readonly (readonly [name: string, letter: RegExp])[] => [
  ['Japanese', /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
  ['Chinese', /\p{Script=Han}/u],
  ['Korean', /\p{Script=Hangul}/u],
  ['Cyrillic letters', /\p{Script=Cyrillic}/u],
  ['Arabic letters', /\p{Script=Arabic}/u],
  ['Hebrew', /\p{Script=Hebrew}/u],
  ['Devanagari letters', /\p{Script=Devanagari}/u],
  ['Thai', /\p{Script=Thai}/u],
]);

/** Recognises words of a language: all of them by its letters, or its frequent ones. */
export function wordsIn(language: string): { isWord(word: string): boolean; areAll: boolean } {
  const letter = scripts().find(([name]) => name === language)?.[1];
  const own = new Set((WORDS[language] ?? '').split(' '));
  return { isWord: (word) => letter?.test(word) ?? own.has(word), areAll: letter !== undefined };
}

/** The language other than English that a part of a text is written in, or null. */
export function foreignLanguage(words: readonly string[]): string | null {
  const foreign = words.filter((word) => word >= FIRST_OTHER);
  for (const [name, letter] of foreign.length < DIFFERENT ? [] : scripts()) {
    const own = foreign.filter((word) => letter.test(word));
    if (new Set(own).size >= DIFFERENT && own.length >= SHARE * words.length) return name;
  }
  const found = LANGUAGES.map(() => new Set<string>());
  const counts = new Int32Array(LANGUAGES.length);
  const languages = ofWord();
  for (const word of words)
    for (const language of languages.get(word) ?? []) {
      found[language]?.add(word);
      counts[language] = (counts[language] ?? 0) + 1;
    }
  let best: number | null = null;
  for (const [language, { size }] of found.entries())
    if (size >= DIFFERENT && (best === null || size > (found[best]?.size ?? 0))) best = language;
  if (best === null || (counts[best] ?? 0) < SHARE * words.length) return null;
  return LANGUAGES[best] ?? null;
}
