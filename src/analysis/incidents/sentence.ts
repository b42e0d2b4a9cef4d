import { checkWord } from '../../core/rollout/checks.ts';
import { truncate } from '../../core/text/fit.ts';
import { formatCount, formatPercent } from '../../core/text/numbers.ts';
import { meanText } from '../../core/text/quantities.ts';
import { isShareName, type Movement, NO_SIGNAL } from '../movement/movement.ts';
import { isAnswerSign, phraseText, WORDLESS } from '../movement/said.ts';
import type { Family } from './family.ts';

type Shift = readonly [before: number, after: number];

/** The input of a sentence about an incident. */
export interface Wording {
  family: Family;
  /** The changes of its kind, the clearest first. */
  own: readonly Movement[];
  shareOf(movement: Movement): Shift;
  /** The tool that failed; null if that is unknown. */
  tool: string | null;
}

const numberWords = (value: number): string =>
  Number.isNaN(value) ? '?' : Math.abs(value) >= 100 ? formatCount(Math.round(value)) : meanText(value);

/** `0 % → 61 % of rollouts`, `450 → 1,200`. */
const shiftText = ({ name }: Movement, [before, after]: Shift): string =>
  isShareName(name)
    ? `${formatPercent(before)} → ${formatPercent(after)} of rollouts`
    : `${numberWords(before)} → ${numberWords(after)}`;

const UNITS: { [name: string]: string } = {
  chars: 'characters',
  think_chars: 'characters of reasoning',
  tokens: 'tokens',
  trained: 'trained tokens',
  turns: 'turns',
  tool_calls: 'tool calls',
};

/** Width of a phrase in cells, so that its sentence fits a terminal. */
const PHRASE = 32;

const quotedNames = (own: readonly Movement[]): string =>
  own
    .flatMap(({ said }) => (said === undefined ? [] : phraseText(truncate(said.written, PHRASE))))
    .slice(0, 2)
    .join(' and ');

/** The incident in one sentence, without the step. */
export function sentenceOf({ family, own, shareOf, tool }: Wording): string {
  const [lead] = own;
  if (lead === undefined) throw new RangeError('a sentence is about a change');
  const shift = shareOf(lead);
  const text = shiftText(lead, shift);
  const rises = shift[1] >= shift[0];
  switch (family) {
    case 'tools':
      return toolsText(own, shareOf, tool);
    case 'hack':
    case 'phrase':
      return `the model began to ${own.some(({ said }) => isAnswerSign(said?.phrase ?? '')) ? 'give' : 'say'} ${quotedNames(own)} (${text})`;
    case 'language':
      return `${languageText(own, rises)} (${text})`;
    case 'loop':
      return `rollouts ${rises ? 'began to repeat themselves' : 'repeat themselves less'} (${measureText(lead.name)} ${text})`;
    case 'length':
      return `${UNITS[lead.name] ?? lead.name} per rollout ${rises ? 'rose' : 'fell'} (${text})`;
    case 'ending':
      return `${rises ? 'more' : 'fewer'} rollouts ${endingText(lead.name)} (${text})`;
    case 'signal':
      return rises
        ? `groups lost their spread: in more of them all rollouts have the same score (${text})`
        : `groups gained spread: in fewer of them all rollouts have the same score (${text})`;
    default:
      return isShareName(lead.name) || Math.sign(lead.change?.jump ?? 0) === Math.sign(shift[1] - shift[0])
        ? `${measureText(lead.name)} ${rises ? 'rose' : 'fell'} (${text})`
        : `${lead.name} ${(lead.change?.jump ?? 0) > 0 ? 'rose' : 'fell'} among rollouts of equal score`;
  }
}

/** A number, or a finding by the name that people see. */
const measureText = (name: string): string =>
  name.startsWith('finding:') ? `"${checkWord(name.slice('finding:'.length))}"` : name;

function languageText(own: readonly Movement[], rises: boolean): string {
  for (const { name } of own) {
    const [kind, word = ''] = name.split(':');
    if (kind === 'language') return `the model began to write ${word}`;
    if (kind === 'script' && word !== 'latin' && rises) return `the model began to write in ${word} script`;
  }
  return `${rises ? 'more' : 'fewer'} responses mix scripts`;
}

function toolsText(own: readonly Movement[], shareOf: Wording['shareOf'], tool: string | null): string {
  const name = tool === null ? 'tools' : `the tool ${tool}`;
  const phrase = own.find(({ said }) => said !== undefined);
  const error = own.find(({ name: one }) => one === 'finding:tool_error') ?? own.find(({ said }) => said === undefined);
  const lead = error ?? phrase;
  if (lead === undefined) throw new RangeError('a sentence is about a change');
  const shift = shareOf(lead);
  const isEmpty = phrase?.said?.phrase === WORDLESS;
  const says = phrase === undefined ? '' : `: ${isEmpty ? 'empty results' : quotedNames([phrase])}`;
  if (error === undefined)
    return `results of ${name} began to ${isEmpty ? 'be empty' : `say ${quotedNames(own)}`} (${shiftText(lead, shift)})`;
  const verb = shift[1] < shift[0] ? 'fails less' : shift[0] < 0.02 ? 'began to fail' : 'fails more';
  return `${name} ${tool === null && verb.startsWith('fails') ? verb.replace('fails', 'fail') : verb}${says} (errors: ${shiftText(lead, shift)})`;
}

/** How rollouts with a new phrase of the model score; nothing if unknown. */
export function liftText({ said }: Movement): string[] {
  if (said?.by !== 'model' || Number.isNaN(said.lift)) return [];
  return [`${formatPercent(said.lift)} of the rollouts that say it score above the mean of their group`];
}

const ENDINGS: { [name: string]: string } = {
  'ended:length': 'end at the length limit',
  'ended:mid_word': 'are cut off in the middle of a word',
  'ended:mid_json': 'are cut off inside a tool call',
  'ended:unclosed_think': 'are cut off inside their reasoning',
  'ended:aborted': 'were aborted',
  'ended:turns': 'end at the limit of turns',
  'finding:unclosed': 'leave a tag open',
  'finding:mid_sentence': 'end in the middle of a sentence',
  'finding:no_answer': 'give no answer',
  'finding:empty_output': 'are empty',
};

const endingText = (name: string): string => ENDINGS[name] ?? `have ${name}`;

/** The subject of a change, in words. */
export const measureName = (name: string): string =>
  name === NO_SIGNAL ? 'groups of one score' : (UNITS[name] ?? measureText(name));

/** A consequence of an incident. */
export function consequenceText(movement: Movement, [before, after]: Shift): string {
  const { name } = movement;
  return `${measureName(name)} ${after >= before ? 'rose' : 'fell'}: ${shiftText(movement, [before, after])}`;
}
