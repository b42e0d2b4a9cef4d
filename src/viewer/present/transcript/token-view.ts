import { itemAt, lastItem } from '../../../core/lists/at.ts';
import type { TurnEnds } from '../../../core/rollout/compared.ts';
import type { Rollout } from '../../../core/rollout/rollout.ts';
import {
  driftOf,
  endsOf,
  isSurprising,
  type TokenRow,
  type TokenRun,
  type TokenTable,
  type TokenText,
  tabulating,
} from '../../../core/rollout/token-table.ts';
import { truncate } from '../../../core/text/fit.ts';
import { cellWidth } from '../../../core/text/graphemes.ts';
import { formatCount, formatPercent, plural } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Style } from '../theme.ts';
import type { Block } from './block.ts';
import { PAUSE, type PartOrPause, paused } from './section.ts';
import { chanceBar } from './turn-heat.ts';

/** Widths of a token's text, and of a number. */
const TEXT = 18;
const NUMBER = 10;

/** Turn boundaries first, then one row per token. */
export function* tokenBlocks(rollout: Rollout, tokenizer: TokenText | null): Generator<PartOrPause<Block>> {
  const table = yield* paused(tabulating(rollout, tokenizer));
  if (table === null) {
    yield said('none', 'this record holds no token ids; --tokenizer tokenizer.json gives those of its text', 'quiet');
    return;
  }
  yield PAUSE;
  for (const [i, text] of tokenHead(table, rollout, tokenizer).entries()) yield said(`head.${i}`, text, 'quiet');
  yield said('borders', 'borders', 'heading');
  for (const run of table.runs) {
    const { trained } = run;
    const style = isOld(table, run, rollout) ? 'warning' : 'plain';
    yield PAUSE;
    yield { ...said(`run.${run.first}`, runText(table, run), style), trained };
  }
  yield said(
    'tokens',
    `${'token'.padStart(6)} ${'id'.padStart(6)} ${fittedText('text', TEXT)}${titles(table)}`,
    'heading',
  );
  for (const row of table.rows)
    yield {
      id: `token.${row.index}`,
      turn: row.index,
      header: true,
      text: tokenText(table, row),
      style: heat(table, row),
      trained: row.trained,
      indent: 0,
    };
}

const said = (id: string, text: string, style: Style): Block => ({
  id: `tokens.${id}`,
  turn: null,
  text,
  style,
  trained: false,
  indent: 0,
});

const titles = ({ columns }: TokenTable): string =>
  columns.map((name) => truncate(name, NUMBER - 1).padStart(NUMBER)).join('');

/** The table in words: the source of its ids, and anomalies in them. */
function tokenHead(table: TokenTable, rollout: Rollout, tokenizer: TokenText | null): string[] {
  const { rows, runs, from } = table;
  const trained = rows.filter((row) => row.trained === true).length;
  const response = rows.length - runs.filter(({ isPrompt }) => isPrompt).reduce((sum, run) => sum + length(run), 0);
  const share = response === 0 ? '' : ` (${formatPercent(trained / response)})`;
  const lines = [
    `${plural(rows.length, 'token')}, ${formatCount(response)} of the response, ${formatCount(trained)} trained${share}`,
    from === 'recorded'
      ? `ids as they were recorded${tokenizer === null ? '; --tokenizer tokenizer.json shows their text' : ''}`
      : 'ids that the tokenizer gives this text: those that were sampled are not recorded',
  ];
  const { advantage } = rollout.rewards;
  if (advantage !== null) lines.push(`advantage ${tokenNumber(advantage)} for all that was sampled`);
  const { policy } = rollout;
  if (policy !== undefined) lines.push(policyText(policy));
  const surprising = rows.filter((row) => isSurprising(table, row)).length;
  if (table.columns.includes('logprob')) lines.push(`${plural(surprising, 'token')} with a chance of less than 5 %`);
  if (tokenizer !== null) lines.push(...endsText(endsOf(table)));
  const drift = tokenizer === null ? null : driftOf(table, tokenizer);
  if (drift !== null)
    lines.push(
      `! the text, encoded again, gives other ids from token ${drift.row.index} on: ${drift.row.id} ${tokenWords(drift.row.text)} was sampled, ${drift.instead ?? 'nothing'} comes from the text`,
    );
  return lines;
}

/** The versions of the weights, and how old they were. */
function policyText({ first, last, trainedAt }: NonNullable<Rollout['policy']>): string {
  const versions = first === last ? `version ${first}` : `versions ${first} to ${last}`;
  if (trainedAt === null) return `sampled by ${versions} of the weights; their age is not recorded`;
  const age = trainedAt - first;
  return `sampled by ${versions} of the weights, trained with ${trainedAt}: ${age === 0 ? 'not stale' : `up to ${plural(age, 'version')} old`}`;
}

/** Versions of the weights that sampled a run; none if they are not recorded by token. */
function versionsIn({ rows, columns }: TokenTable, { first, last }: TokenRun): number[] {
  const at = columns.indexOf('policy');
  if (at === -1) return [];
  const known = rows.slice(first, last + 1).flatMap(({ values }) => values[at] ?? []);
  return [...new Set(known)].sort((a, b) => a - b);
}

/** Weights older than those being trained or, if that is unknown, than the newest that sampled. */
const isOld = (table: TokenTable, run: TokenRun, { policy }: Rollout): boolean => {
  const [oldest] = versionsIn(table, run);
  return oldest !== undefined && policy !== undefined && oldest < (policy.trainedAt ?? policy.last);
};

/** The mask of the tokens that end sampled turns. */
function endsText({ turns, trained, masked }: TurnEnds): string[] {
  if (turns === 0 || trained + masked === 0) return [];
  if (masked > 0)
    return [
      `! the end token behind ${masked} of ${plural(turns, 'sampled turn')} is masked: nothing teaches the model to stop there`,
    ];
  return [`the end token of ${trained} of ${plural(turns, 'sampled turn')} is trained`];
}

const length = ({ first, last }: TokenRun): number => last - first + 1;

/** `  12–40 trained 29: "I" … "<|im_end|>"  mean logprob -0.41`. */
function runText(table: TokenTable, run: TokenRun): string {
  const { rows, columns } = table;
  const part = rows.slice(run.first, run.last + 1);
  const word = run.isPrompt ? 'prompt' : run.trained === null ? 'unknown' : run.trained ? 'trained' : 'masked';
  const [head, tail] = [itemAt(part, 0), lastItem(part)];
  const ends = part.length === 1 ? tokenWords(head.text) : `${tokenWords(head.text)} … ${tokenWords(tail.text)}`;
  const at = columns.indexOf('logprob');
  const known = (run.trained === false ? [] : part).flatMap(({ values }) =>
    typeof values[at] === 'number' ? [values[at]] : [],
  );
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const places = `${run.first}–${run.last}`;
  const text = head.text === null ? `ids ${head.id} … ${tail.id}` : ends;
  const said = known.length === 0 ? '' : `  mean logprob ${tokenNumber(mean)}`;
  const versions = versionsIn(table, run);
  const policy = versions.length === 0 ? '' : `  policy ${versions.join(', ')}`;
  return `${places.padStart(11)} ${word.padEnd(7)} ${formatCount(part.length)}: ${text}${said}${policy}`;
}

/** One token in one line. */
function tokenText(table: TokenTable, row: TokenRow): string {
  const text = fittedText(row.text === null ? '' : row.text === '' ? '⋯' : tokenWords(row.text), TEXT);
  const numbers = row.values.map((value) => (value === null ? '' : tokenNumber(value)).padStart(NUMBER)).join('');
  return `${String(row.index).padStart(6)} ${(row.id < 0 ? '?' : String(row.id)).padStart(6)} ${text}${numbers}${bar(table, row)}`.trimEnd();
}

const tokenWords = (text: string | null): string =>
  text === null ? '?' : truncate(sanitiseLine(JSON.stringify(text)), TEXT - 1);

const fittedText = (text: string, width: number): string => text + ' '.repeat(Math.max(1, width - cellWidth(text)));

const tokenNumber = (value: number): string =>
  Number.isInteger(value) ? String(value) : Math.abs(value) < 0.001 ? value.toExponential(1) : value.toFixed(3);

const logprobOf = ({ columns }: TokenTable, { values }: TokenRow): number | null => {
  const at = columns.indexOf('logprob');
  return at === -1 ? null : (values[at] ?? null);
};

function bar(table: TokenTable, row: TokenRow): string {
  const logprob = logprobOf(table, row);
  if (logprob === null || row.trained === false) return '';
  return `  ${chanceBar(logprob)}${isSurprising(table, row) ? ' !' : ''}`;
}

function heat(table: TokenTable, row: TokenRow): Style {
  if (row.trained === null) return 'unknown';
  const logprob = logprobOf(table, row);
  if (row.trained === false) return 'quiet';
  if (logprob === null || logprob > -1) return 'plain';
  return isSurprising(table, row) ? 'error' : 'warning';
}
