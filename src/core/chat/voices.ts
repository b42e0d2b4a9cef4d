/**
 * The speakers of a dialogue whose texts have nothing between them: two texts touch without a blank, and an assistant
 * speaks of "your" things where a user speaks of "my".
 */

/** A sentence end followed by another text without a blank. */
const GLUE =
  /(?<=[\p{L}\d)\]}"'*`%][.!?…]["*)]{0,3}|#{3}|:\)|[。！？]|\p{Extended_Pictographic}|\n```)(?=["'*([{#-]{0,3}[\p{L}\d]|#{1,6} \p{Lu}|<\w+>)/gu;
/** The end of a value or of a tag, and a sentence behind it. */
const CLOSED = /(?<=(?<!\\)[\]})]|\n<\/\w{1,20}>)(?=\p{Lu}\p{Ll}*(?:['’]\p{Ll}+)?[ ,.!])/gu;
/** The end of a quotation, and a sentence behind it. */
const QUOTED = /(?<=[\p{L}\d.!?]")(?=\p{Lu}\p{Ll}+(?:['’]\p{Ll}+)? \p{Ll})/gu;
/** A speaker's name, as environments and their examples write it. */
const NAMED = /(?<=[^\s"'`([*])(?=(?:Assistant|Observation|Environment|Feedback|Human|User):\s)/gu;
/** A list of records behind words. */
const RECORDS = /(?<=[\p{L}\d).!?"'])(?=\[\{"\w+": )/gu;
/** Two words without a blank, the second with a capital. */
const CAMEL =
  /(?<=\b\p{Ll}{3,20})(?=\p{Lu}\p{Ll}+[ ,.!'’])|(?<=\d)(?=(?:\p{Lu}\p{Ll}+|I)(?:['’]\p{Ll}+)? \p{Ll}{2,},? )/gu;
/** Abbreviations and the numbers of a list, which contain such a place themselves. */
const ABBREVIATED =
  /(?:(?<!\p{L})\p{L}\.|\b(?:vs|etc|Mr|Ms|Mrs|Dr|St|No|Inc|e\.g|i\.e)\.)\S*$|(?:^|\n)\s*[\p{L}\d]{1,3}[.)]$/u;
/** Names of places and things, and numbers, do too, unless a word with a capital and another word follow. */
const NAMES = /(?:https?:|www\.|[/@_]|\d[.,:])\S*$/;
const NAME_ENDS = /[^\s./:][.!?]$/;
const SENTENCE = /^(?:I|\p{Lu}\p{Ll}*)(?:['’]\p{Ll}+)?[,!]? \p{L}/u;
/** After a full stop, a suffix rather than a sentence. */
const SUFFIX = /^(?:\p{Ll}{1,5}\b(?! \p{Ll})|\d(?!\. \p{Lu})|\S{0,20}[(@])/u;

/** The end of a file's name. */
const EXTENSION =
  /^(?:py|js|ts|tsx|jsx|txt|md|json|jsonl|csv|c|cc|cpp|h|hpp|rs|go|sh|html?|css|ya?ml|toml|java|rb|pdf|xml|log|cfg|ini|ipynb|com|org|net|io|exe|zip|tar|gz|sql|php|png|jpg|traj|lock|env|git)\b/;

/** Offsets at which two texts may touch. */
export function gluesIn(text: string, from: number): number[] {
  const found = new Set<number>();
  const inCode = codeIn(text, from);
  for (const pattern of [GLUE, CLOSED, QUOTED, NAMED, RECORDS, CAMEL]) {
    pattern.lastIndex = from;
    for (const { index: at } of text.matchAll(pattern)) {
      if (at <= from || inCode(at)) continue;
      const [before, after] = [text.slice(Math.max(from, at - 60), at), text.slice(at, at + 30)];
      const isWords = pattern === GLUE || pattern === CAMEL;
      if (isWords && ABBREVIATED.test(before)) continue;
      if (isWords && NAMES.test(before) && !(NAME_ENDS.test(before) && SENTENCE.test(after))) continue;
      if (text[at - 1] === '.' && (SUFFIX.test(after) || (EXTENSION.test(after) && /\w\.$/.test(before)))) continue;
      // A quotation mark that closes belongs to the text before.
      if ((text[at] === '"' || pattern === QUOTED) && count(lineBefore(text, from, at), /"/g) % 2 === 1) continue;
      found.add(at);
      if (found.size > MAX_PLACES) break;
    }
  }
  return [...found].sort((a, b) => a - b);
}

/** A text with more places is no dialogue. */
const MAX_PLACES = 200;
const MAX_LINE = 2000;
const MAX_ASKED = 1500;

const lineBefore = (text: string, from: number, at: number): string => {
  const before = text.slice(Math.max(from, at - MAX_LINE), at);
  return before.slice(before.lastIndexOf('\n') + 1);
};
const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** A test for whether a place is in a fence, or in a span of code within its line. */
function codeIn(text: string, from: number): (at: number) => boolean {
  const fences: number[] = [];
  for (let at = text.indexOf('```', from); at !== -1; at = text.indexOf('```', at + 3)) fences.push(at);
  return (at) => {
    const after = fences.findIndex((fence) => fence >= at);
    if ((after === -1 ? fences.length : after) % 2 === 1) return true;
    return count(lineBefore(text, from, at), /(?<!`)`(?!`)/g) % 2 === 1;
  };
}

const ASSISTANT =
  /\b(?:your(?:self)?|you're welcome|would you like|let me know|(?:could|can) you please (?:provide|confirm|share|specify|tell)|please (?:provide|confirm|let|note|share|specify|hold)|(?:can|may) I (?:help|assist|have)|I can (?:help|assist)|I(?:'ll| will) (?:help|need|check|look|search|retrieve|proceed)|assist you|here(?:'s| is| are)|I apologize|it (?:seems|looks))\b/gi;
const USER =
  /\b(?:my|mine|I'd (?:like|prefer)|I (?:want|wish|prefer|don't|can't|would|was hoping|have a)|I'm (?:looking|trying|interested|hoping|not)|(?:can|could|would) you (?!please (?:provide|confirm|share|specify|tell)|like|prefer)|yes|no|sure|okay|thanks|hi|hey|hello|please (?:add|book|cancel|change|go|send|make|find|proceed|use))\b/gi;

/** How much a text speaks like an assistant (above 0) or like its user (below 0). */
export function voiceOf(text: string): number {
  const words = text.replaceAll('’', "'");
  return (words.match(ASSISTANT)?.length ?? 0) - (words.match(USER)?.length ?? 0);
}

/** The tag, the list or the first words with which a text begins. */
const FORM = /^\s*(?:<\w+>|\p{Lu}\p{Ll}{3,12}:(?=\s)|\[\{"\w+"|\{"\w+"|[^\s\p{L}\d]{1,4}\s?\w*)/u;

const voiceForm = (text: string): string => FORM.exec(text)?.[0] ?? '';

/** All begin in the same way, and there are two or more. */
function sharedForm(texts: readonly string[]): string | null {
  const forms = new Set(texts.map(voiceForm));
  const [only] = forms;
  return texts.length > 1 && forms.size === 1 && only !== '' ? (only ?? null) : null;
}

/** A voice that speaks this clearly is not the other's. */
export const CLEAR = 2;

/**
 * Do these texts, which touch one another, alternate between assistant and user? Words of their own must say so, or
 * the form that one side repeats; and no text may speak clearly with the other's voice. @param first who begins
 */
export function alternates(texts: readonly string[], first: 'assistant' | 'user' = 'assistant'): boolean {
  const isReply = (i: number): boolean => (i % 2 === 0) === (first === 'assistant');
  const replies = texts.filter((_, i) => isReply(i));
  const asked = texts.filter((_, i) => !isReply(i));
  // A form on both sides: a place where texts touch was not seen.
  if (replies.some((text) => voiceForm(text) !== '' && asked.some((other) => voiceForm(other) === voiceForm(text))))
    return false;
  const [replyForm, askedForm] = [sharedForm(replies), sharedForm(asked)];
  if (replyForm !== null && askedForm !== null && replyForm !== askedForm) return true;
  let sum = replyForm === askedForm ? 0 : CLEAR;
  for (const [i, text] of texts.entries()) {
    const voice = isReply(i) ? voiceOf(text) : -voiceOf(text);
    if (voice <= -CLEAR && (isReply(i) ? replyForm : askedForm) === null) return false;
    sum += Math.min(CLEAR, voice);
  }
  return sum >= Math.min(CLEAR, texts.length - 1);
}

/** A line break alone, and one behind the end of a sentence. */
const BREAK = /(?<=[^\n])\n(?=[^\n])/g;
const SENTENCE_BREAK = /(?<=[.!?)\]}>"`…。！？]|\*\*)\n(?=[\p{Lu}"'(¡¿<[]|\p{Lo})/gu;

/** How an environment's words begin that has a name. */
const LABEL = /^(?:Observation|Environment|Feedback|Human|User|Result|Output):/;
const CAPITAL_BREAK = /(?<=[^\n])\n(?=["'(¡¿<[]?\p{Lu})/gu;

/**
 * The line break between two speakers: the only place there is, or the one at which both speak most
 * clearly with their own voices. @returns its offset; null if several would do
 */
export function breakBetween(text: string, first: 'assistant' | 'system'): number | null {
  const thought = /^\s*<think>[\s\S]*?<\/think>\n?/.exec(text)?.[0].length ?? 0;
  const places = [...text.matchAll(first === 'assistant' ? BREAK : SENTENCE_BREAK)]
    .map(({ index }) => index)
    .filter((at) => at >= thought);
  if (places.length > MAX_PLACES) return null;
  const inCode = codeIn(text, thought);
  const open = places.filter((at) => !inCode(at));
  const [only, ...others] = open;
  if (only === undefined) return null;
  const isOnly = first === 'assistant' || [...text.matchAll(CAPITAL_BREAK)].every(({ index }) => open.includes(index));
  if (others.length === 0 && isOnly) return only;
  const observed = open.filter(
    (at) =>
      LABEL.test(text.slice(at + 1, at + 20)) ||
      (text.slice(0, at).endsWith('\n```') && /^<\w+>/.test(text.slice(at + 1))),
  );
  if (observed.length > 0) return observed.length === 1 ? (observed[0] ?? null) : null;
  const last = open.at(-1) ?? only;
  const before = text.slice(0, last);
  const asks = before.slice(before.lastIndexOf('\n') + 1);
  if (first === 'assistant' && voiceOf(asks) > 0 && voiceOf(text.slice(last + 1)) <= 0) return last;
  const weighed = open
    .map((at) => ({ at, after: voiceOf(text.slice(at + 1)), voice: voiceOf(text.slice(0, at)) }))
    .sort((a, b) => b.voice - b.after - (a.voice - a.after));
  const [best, next] = weighed;
  if (best === undefined || best.after > (first === 'system' ? -CLEAR : -1)) return null;
  // Counted over pages, words of any voice add up.
  const asked = text.slice(best.at + 1);
  if (first === 'system' && (asked.length > MAX_ASKED || voiceOf(asked.slice(0, 300)) >= 0)) return null;
  return next === undefined || best.voice - best.after > next.voice - next.after ? best.at : null;
}

/** Tags and role words that part turns, or are quoted. Where nothing else parts them, neither is more likely. */
const BORDERS =
  /<\|(?!\/?tool)\w+\|>|<｜|\[\/?(?:INST|TOOL_RESULTS)\]|<\/?(?:tool_response|response|think)>|(?:^|\n)(?:user|assistant|system|tool|model|ai)[^\S\n]*(?:\n|$)/;

export const quotesBorder = (text: string): boolean => BORDERS.test(text);
