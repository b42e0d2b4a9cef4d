import { int32At, itemAt } from '../lists/at.ts';
import { endsInMidSentence, gaveAnswer } from './ended-by-text.ts';
import type { CheckDeclaration, Notice } from './finding.ts';
import type { ToolCall, Turn, UncheckedRollout } from './rollout.ts';
import { hasScript, namesLanguageOf, SCRIPTS } from './scripts.ts';
import { isModels, type TextScan } from './text-scan.ts';

export const TEXT_CHECKS = {
  repetition: { needs: 'reply', word: 'repeats', severity: 'warning' },
  script_change: { needs: 'reply', word: 'script', severity: 'warning' },
  broken_text: { needs: 'reply', word: 'U+FFFD', severity: 'warning' },
  own_role: { needs: 'reply', word: 'own role', severity: 'warning' },
  no_answer: { needs: 'reply', word: 'no answer', severity: 'warning' },
  mid_sentence: { needs: 'reply', word: 'mid-sentence', severity: 'warning' },
} as const satisfies Record<string, CheckDeclaration>;

type NoticeText = Notice<keyof typeof TEXT_CHECKS>;

/** Half of a text, and long enough not to be a list or a table. */
const MUCH_REPEATED = 0.5;
const MANY_WORDS = 100;

/** Signs in the text that the model wrote. */
export function checkText(rollout: UncheckedRollout, scan: TextScan, notice: NoticeText): void {
  const { turns, responseTurn } = rollout;
  if (scan.repetition >= MUCH_REPEATED && scan.words >= MANY_WORDS && !isGridForGrid(rollout))
    notice('repetition', null, `${Math.round(scan.repetition * 100)} % of the model's text was said before in it`);
  checkScripts(rollout, scan, notice);
  for (let i = responseTurn; i < turns.length; i++) {
    const turn = turns[i]!;
    // A text that was cut into turns has no record of who wrote the words: a template, or the model.
    if (turn.role === 'system' && i > responseTurn && rollout.reading !== undefined && turn.text.trim() !== '')
      notice('own_role', i, 'a system prompt in the middle of the response');
    if (!isModels(turn)) continue;
    if (turn.text.includes('\ufffd'))
      notice('broken_text', i, 'the text contains U+FFFD, which replaces bytes that are not a character');
    const middle = systemPromptIn(turn.text);
    if (middle !== null && !promptEnds(rollout, middle))
      notice('own_role', i, `a system prompt in the middle of the reply: “${middle}”`);
    const role = ownRole(turn.text);
    if (role !== null && !promptSays(rollout, role))
      notice('own_role', i, `the model wrote the role word ${role} itself`);
  }
  checkAnswer(rollout, notice);
}

/** A puzzle of digits is answered by digits: rows of a grid are alike. */
function isGridForGrid({ turns, responseTurn }: UncheckedRollout): boolean {
  const asked = turns.slice(0, responseTurn).filter(({ role }) => role === 'user');
  return isOfDigits(asked) && isOfDigits(turns.slice(responseTurn).filter(isModels));
}

/** More digits than letters. By code units: two expressions over each text took a quarter of the facts of repetitive rollouts. */
function isOfDigits(turns: readonly Turn[]): boolean {
  let more = 0;
  for (const { text } of turns)
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 48 && code <= 57) more++;
      else if (isLetter(code, text, i)) more--;
    }
  return more > 0;
}

function isLetter(code: number, text: string, at: number): boolean {
  if (code < 128) return (code | 32) >= 97 && (code | 32) <= 122;
  return /\p{L}/u.test(text.charAt(at));
}

/** More letters than a name, a quote or a symbol needs. */
const FOREIGN_LETTERS = 4;

/** A script that does not occur before the reply. */
function checkScripts({ turns, responseTurn }: UncheckedRollout, { letters }: TextScan, notice: NoticeText): void {
  for (const [script, name] of SCRIPTS.entries()) {
    if (script === 0 || int32At(letters, script) < FOREIGN_LETTERS) continue;
    // A task in that script shows it in its first words, and one of translation names its language.
    const isAskedFor = ({ text }: Turn): boolean => hasScript(text, script) || namesLanguageOf(text, script);
    if (turns.some((turn, i) => (i < responseTurn || !isModels(turn)) && isAskedFor(turn))) continue;
    notice(
      'script_change',
      firstWith(turns, responseTurn, script),
      `${letters[script]} letters of the script ${name}, which nothing before is written in`,
    );
    return;
  }
}

function firstWith(turns: readonly Turn[], from: number, script: number): number | null {
  for (let i = from; i < turns.length; i++)
    if (isModels(itemAt(turns, i)) && hasScript(itemAt(turns, i).text, script)) return i;
  return null;
}

/** Tokens and words with which templates and plain dialogues name the speaker. */
const ROLE_TOKEN = /<\|(?:im_start|start_header_id|user|assistant|system|start)\|>|<(?:start_of_turn|start_of_role)>/;
const ROLE_LINES = [
  '\nHuman:',
  '\nUser:',
  '\nAssistant:',
  '\n### Instruction:',
  '\n### User:',
  '\n### Human:',
  '\n### Assistant:',
  '\nTool output:',
];
/** A role's line as a template writes it. Alone it is a word of prose or code; before a line of the model's own role it is a turn. */
const SPOKEN_FOR = /\n(user|tool|observation)[ \t]*\n/;
const OWN_TURN = /\n(?:assistant|model)[ \t]*(?:\n|$)/;
/** Alone it is a heading of prose. */
const OBSERVED = /\n[ \t]*Action(?: Input)?:[^\n]*\n(?:[^\n]*\n){0,20}?Observation:/;

function ownRole(text: string): string | null {
  if (text.includes('<|') || text.includes('<start_of_')) {
    const token = ROLE_TOKEN.exec(text);
    if (token !== null) return token[0];
  }
  const line = ROLE_LINES.find((one) => text.includes(one));
  if (line !== undefined) return line.trim();
  const spoken = SPOKEN_FOR.exec(text);
  if (spoken !== null && OWN_TURN.test(text.slice(spoken.index + spoken[0].length - 1))) return spoken[1] ?? null;
  return OBSERVED.test(text) ? 'Observation:' : null;
}

/** System prompts that templates add by themselves, as a line of a reply: the model or the loop began a new conversation. */
const DEFAULT_SYSTEM =
  /(?:^|\n)\s*(You are (?:a helpful assistant\.|Qwen, created by Alibaba Cloud\.|ChatGPT, a large language model|an AI assistant\.|a helpful AI assistant\b))/;

const systemPromptIn = (text: string): string | null =>
  text.includes('You are ') ? (DEFAULT_SYSTEM.exec(text)?.[1] ?? null) : null;

/** A task that is about the prompt itself. */
const promptEnds = ({ turns, responseTurn }: UncheckedRollout, words: string): boolean =>
  turns.slice(0, responseTurn).some(({ role, text }) => role === 'user' && text.includes(words));

/** A task about dialogues contains such words itself. */
const promptSays = ({ turns, responseTurn }: UncheckedRollout, role: string): boolean =>
  turns
    .slice(0, responseTurn)
    .some(({ text }) => (/^\w+$/.test(role) ? text.includes(`\n${role}\n`) : text.includes(role)));

/** A call with which an agent submits its work. */
const HANDS_IN = /submit|finish|complete|done|final|answer|terminate|stop|exit|transfer/i;

export const handsIn = ({ name, raw }: Pick<ToolCall, 'name' | 'raw'>): boolean =>
  HANDS_IN.test(name ?? '') || /^\s*submit|SUBMIT_FINAL_OUTPUT/.test(raw);

function checkAnswer({ turns, responseTurn, ended, score }: UncheckedRollout, notice: NoticeText): void {
  if (!turns.some((turn, i) => i >= responseTurn && isModels(turn) && turn.text !== '')) return;
  const isPaid = score !== null && score > 0;
  let last: Turn | undefined;
  for (let i = turns.length - 1; i >= responseTurn && last === undefined; i--)
    if ((itemAt(turns, i).context ?? 0) === 0) last = turns[i];
  if (last === undefined) return;
  if (isModels(last) && ended.how !== 'stop' && endsInMidSentence(last.text))
    notice('mid_sentence', last.index, 'the text ends in the middle of a sentence');
  if (!isModels(last)) {
    if (!isPaid && score !== null && last.role === 'tool' && ended.how !== 'stop' && !handedIn(turns, responseTurn))
      notice('no_answer', last.index, 'the model wrote nothing after the last tool result');
    return;
  }
  if (last.toolCalls.length > 0) return;
  const open = last.parts.at(-1);
  // A server may file the whole answer as reasoning, and the scorer has seen it.
  if (isPaid || last.text.trim() === '' || gaveAnswer(last.text)) return;
  if ((open?.kind === 'think' && (open.open === true || ended.how !== 'stop')) || !hasText(last))
    notice('no_answer', last.index, 'the reply is reasoning alone');
}

const hasText = ({ text, parts }: Turn): boolean =>
  parts.some(({ kind, start, end }) => kind === 'text' && text.slice(start, end).trim() !== '');

function handedIn(turns: readonly Turn[], from: number): boolean {
  for (let i = turns.length - 1; i >= from; i--) {
    const { toolCalls } = itemAt(turns, i);
    if (toolCalls.length > 0) return toolCalls.some(handsIn);
  }
  return false;
}
