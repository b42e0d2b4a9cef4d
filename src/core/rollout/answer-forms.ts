import { itemAt } from '../lists/at.ts';

/** A form in which a prompt requests the answer, and how to read it from a reply. */
export interface AnswerForm {
  name: string;
  isIn(text: string): boolean;
}

const holds = (word: string): AnswerForm => ({ name: word, isIn: (text) => text.includes(word) });

/** A label before the answer's placeholder: `Exact Answer: {…}`, `ANSWER: $LETTER`. */
const LABEL =
  /(?:^|[\n"'`*]|: )[ \t]*\**((?:(?:the|your|my|exact|final|correct|short) )*answer)\**[ \t]*:\**[ \t]*(?=[[{<$]|\\boxed|_{2,}|X\b)/gi;
/**
 * `####` is a Markdown heading and a wall in mazes, so it counts only if the prompt requests it in words, or with a
 * placeholder after it.
 */
const HASHES =
  /(?:after|behind|with|by|format|form|using|following|start(?:s|ing)?)\b[^\n]{0,40}####|####\s*(?:<|\[|\{|answer\b|your\b|final\b|number\b)/i;
/** A box that is empty, holds a placeholder, or follows words that ask for it; a box in a quoted solution asks for nothing. */
const BOXED =
  /\\{1,2}boxed(?:(?!\s*\{)|\s*\{\s*(?:\}|\.\.\.|…|\\[lc]?dots|[<[$#_]|(?:your|the|final|answer|ans|result)\b|[xn]\s*\}))|\b(?:in|inside|within|with|using|use|by|as|put|place|box|wrap|enclose|format|form)\b[^\n]{0,60}\\{1,2}boxed/i;
const TAG = /<answer>/;
/** A pair of tags for the answer, by whatever name; a prompt gives its own texts in tags, too. */
const TAGS =
  /\b(?:answer|choice|label|verdict|result|score|prediction|option|decision|output|response|solution|tag)s?\b[^.\n]{0,80}?\b(?:in|inside|within|between|with|using|by|format:?)\s+(?:the )?[`"']?<(\w{1,30})>[^<\n]{0,40}<\/\1>/gi;
const NO_ANSWER =
  /^(?:think\w*|thought\w*|reason\w*|scratchpad|plan|reflection|tool\w*|function\w*|search|code|python|answer|information|result|observation)$/i;
/** The sentence in which the answer is to be given, up to its placeholder. */
const SENTENCE =
  /\b(?:form(?:at)?|with|as|like|line|following|by|exactly)\b[^.\n"'“:]{0,30}:?\s*["'“]?((?:[A-Za-z]+,? ){1,8}(?:answer|choice|result|verdict|solution)(?: [a-z]+){0,3}?(?: is|:))\s*(?:[[<{][^\]>}\n]{1,30}[\]>}]|\$[A-Z]+|\(?[XN]\b|_{2,}|\.\.\.)/g;
/** The same in brackets, with these names alone: others could be marks of a template. */
const BRACKET_TAGS = /\[(ANSWER|FINAL|RESULT|SOLUTION|CHOICE)\][^\n]{0,20}\[\/\1\]/i;
/** The form of calls is JSON, too, and asks for no answer. */
const AS_JSON =
  /\b(?:respond|answer|reply|return|output|format|response)\b(?:(?!tool|function|call|arguments)[^.\n]){0,60}\bJSON\b(?!-?(?:schema|lines))(?![^.\n]*\b(?:tool|function|call|arguments)\b)/i;
const IN_FENCE =
  /\b(?:put|place|write|wrap|enclose|format|return|provide|output|respond|answer|give)\b(?:(?!reason|think|thought)[^.\n]){0,40}\b(?:code|program|function|script|query|SQL|implementation|answer|solution|edits?)\b(?:(?!reason|think|thought)[^.\n]){0,60}(?:```|\bcode (?:block|fence)s?\b|\btriple backticks\b)/i;

/** The part of a sentence that forbids, up to the part that says what to do instead. A dot before a quotation mark or a letter ends none. */
const FORBIDDEN =
  /\b(?:avoid|(?:do|must|should|shall|may|can|will)(?:n['’]t| not)|cannot|never)\b(?! (?:\w+ ){0,2}(?:forget|fail|hesitate|omit|skip|leave|without))(?:(?![;:!?\n]|\.\s|,? (?:but|just|only|instead|simply|then|and|without|unless|until|except)\b)[\s\S])*/gi;

/** The answer for the last prompt: rollouts of one group are often adjacent. */
let last: { prompt: string; forms: readonly AnswerForm[] } = { prompt: '', forms: [] };

/** The forms named in the prompt: any of them is acceptable. */
export function askedForms(prompt: string): readonly AnswerForm[] {
  if (prompt.length > MAX_PROMPT) return [];
  if (last.prompt !== prompt) last = { prompt, forms: formsIn(prompt) };
  return last.forms;
}

function formsIn(whole: string): AnswerForm[] {
  const prompt = whole.replace(FORBIDDEN, ' ');
  const forms: AnswerForm[] = [];
  if (BOXED.test(prompt)) forms.push(holds('\\boxed'));
  if (HASHES.test(prompt)) forms.push(holds('####'));
  if (TAG.test(prompt)) forms.push(holds('<answer>'));
  for (const [, tag] of prompt.includes('</') ? prompt.matchAll(TAGS) : [])
    if (!NO_ANSWER.test(tag!) && !prompt.includes(`<${tag}>\n`)) forms.push(holds(`<${tag}>`));
  const bracket = BRACKET_TAGS.exec(prompt)?.[1];
  if (bracket !== undefined) forms.push(holds(`[${bracket}]`));
  for (const [, sentence] of prompt.matchAll(SENTENCE)) {
    const words = sentence!.trim().toLowerCase();
    forms.push({ name: `“${sentence!.trim()} …”`, isIn: (text) => text.toLowerCase().includes(words) });
  }
  if (AS_JSON.test(prompt)) forms.push({ name: 'JSON', isIn: (text) => /[{[][\s\S]*[}\]]/.test(text) });
  if (IN_FENCE.test(prompt)) forms.push(holds('```'));
  for (const [, label] of prompt.matchAll(LABEL)) {
    const words = label!.trim().toLowerCase();
    if (forms.some(({ name }) => name.toLowerCase() === `${words}:`)) continue;
    const pattern = new RegExp(`${words.replaceAll(' ', '\\s+')}\\W{0,4}:|${words.replaceAll(' ', '\\s+')}\\**:`, 'i');
    forms.push({ name: `${label!.trim()}:`, isIn: (text) => pattern.test(text) });
  }
  return forms;
}

const MAX_PROMPT = 100_000;

/**
 * The answer in a reply, in the forms that tasks request: the last boxed one, the last after `####`, in its tag, after
 * its label.
 */
export function givenAnswer(text: string): string | null {
  const boxed = text.lastIndexOf('\\boxed{');
  if (boxed !== -1) return braced(text, boxed + '\\boxed{'.length);
  for (const pattern of [
    /####[ \t]*([^\n]{1,200})(?![\s\S]*####)/,
    /<answer>([^<]{1,400})<\/answer>(?![\s\S]*<answer>)/,
    /(?:^|\n)\W*(?:the |my )?(?:exact |final )?answer\W{0,3}(?::|is)\W{0,3}([^\n]{1,200})/i,
  ]) {
    const found = pattern.exec(text)?.[1]?.trim();
    if (found) return found;
  }
  return saidAnswer(text);
}

/** A sentence that names the answer, wherever it is in its paragraph. */
const SAID =
  /\b(?:answer|ans|solution|result)\b(?: (?:to|for|of) [^.:\n]{1,60}?)?(?: (?:must|should|would|has to|will|can only) be| is| equals|\s*[:=])\s*(?:(?:simply|just|clearly|therefore|thus|then|exactly)\s+)?[:=]?\s*(?=([^\n]{1,200}))/gi;

/** Such a sentence has one of these words: a shorter pattern, since V8 takes 5 ms to compile the whole one. */
const SAYS = /answer|ans|solution|result/i;

/** The answer that the last such sentence names, up to the end of the sentence. */
function saidAnswer(text: string): string | null {
  if (!SAYS.test(text)) return null;
  const found = [...text.slice(-SAID_WITHIN).matchAll(SAID)].at(-1)?.[1]?.trim();
  if (found === undefined) return null;
  return found.replace(/(?:[.!?](?=\s|$)|[,;] |\s(?:because|since|as|so|which)\b)[\s\S]*$/, '').trim() || null;
}

const SAID_WITHIN = 4000;

/** The text up to the brace that closes the one before `from`. */
function braced(text: string, from: number): string | null {
  let depth = 1;
  for (let at = from; at < Math.min(text.length, from + 400); at++) {
    if (text[at] === '{') depth++;
    else if (text[at] === '}' && --depth === 0) return text.slice(from, at).trim();
  }
  return null;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const WHOLE_NUMBER = /^-?\d+$/;

/**
 * An answer without formatting: capitals, currency, LaTeX, the order of a date. It does not detect other equivalent
 * answers.
 */
export function bareAnswer(answer: string): string {
  // Most answers to check are whole numbers, of which none of the rules below changes a character.
  if (WHOLE_NUMBER.test(answer)) return answer;
  const text = answer
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\\(?:text|mathrm|mathbf|textbf|operatorname)\s*\{([^{}]*)\}/g, '$1')
    .replace(/\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, '$1/$2')
    .replace(/\\(?:left|right|,|;|!|quad| )/g, '')
    .replace(/(\\[a-z]+)\s+/g, '$1')
    .replace(/\\%/g, '%')
    .replace(/^\s*[([]?([a-e])[)\].:]?\s*$/, '$1')
    .replace(/[$€£¥]|\\\$|\b(?:usd|eur|dollars?|euros?)\b/g, '')
    .replace(/(\d),(?=\d{3}\b)/g, '$1')
    .replace(/(\d)\.0+\b/g, '$1')
    .replace(/\*\*|[`"'{}]/g, '')
    .replace(/^\s*[a-z]\s*=(?!=)\s*/, '')
    .replace(/\b(?:the|an?)\b/g, ' ');
  const date = dateIn(text);
  if (date !== null) return date;
  return text.replace(/(?:[\s,;:!?]|\.(?!\d))+/g, ' ').trim();
}

/** Two answers that are one number: a decimal and a fraction, a share and its percent sign. */
export function isSameNumber(a: string, b: string): boolean {
  const [first, second] = [numberOf(a), numberOf(b)];
  return first !== null && second !== null && Math.abs(first - second) <= 1e-9 * Math.max(1, Math.abs(first));
}

function numberOf(text: string): number | null {
  // A unit behind a number is another way to say the number.
  const bare = text.replace(/^([-+]?[\d./ ]*\d)\s+[a-z]{2,20}(?: [a-z]{2,20})?$/, '$1');
  const found = /^([-+]?\d+(?:\.\d+)?)(?:\s*\/\s*(\d+(?:\.\d+)?))?\s*%?$/.exec(bare);
  if (found === null) return null;
  const value = Number(found[1]) / (found[2] === undefined ? 1 : Number(found[2]));
  return Number.isFinite(value) ? value : null;
}

function dateIn(text: string): string | null {
  const iso = /^\s*(\d{4})-(\d{1,2})-(\d{1,2})\s*$/.exec(text);
  if (iso !== null) return `${iso[1]}-${Number(iso[2])}-${Number(iso[3])}`;
  const words = text.match(/[a-z]{3,9}|\d{1,4}/g) ?? [];
  if (words.length !== 3) return null;
  const month = words.findIndex((word) => /^[a-z]/.test(word) && MONTHS.includes(word.slice(0, 3)));
  if (month === -1) return null;
  const rest = words.filter((_, i) => i !== month).map(Number);
  const year = rest.find((value) => value > 31);
  const day = rest.find((value) => value <= 31);
  return year === undefined || day === undefined
    ? null
    : `${year}-${MONTHS.indexOf(itemAt(words, month).slice(0, 3)) + 1}-${day}`;
}
