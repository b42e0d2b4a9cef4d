import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import { isJsonObject, objectIn } from '../../../core/json/value.ts';
import { END_WORD } from '../../../core/rollout/ended.ts';
import { type Part, type Rollout, type ToolCall, type Turn, toolCallsOf } from '../../../core/rollout/rollout.ts';
import { truncate } from '../../../core/text/fit.ts';
import { formatCount } from '../../../core/text/numbers.ts';
import { scoreText } from '../../../core/text/quantities.ts';
import { sanitise } from '../../../core/text/sanitise.ts';
import type { Label } from '../../../replay/journal/labels.ts';
import { findingWords } from '../failure-word.ts';
import { formatJson } from '../json.ts';
import { labelText, labelWords } from '../label-text.ts';
import { maskShare } from '../mask-share.ts';
import { formatReward } from '../numbers.ts';
import type { CodeLanguage } from '../transcript/code-language.ts';
import { spokenOf } from '../transcript/findings.ts';
import { syntaxRanges } from '../transcript/grammars.ts';
import { isJson, jsonLines } from '../transcript/json-text.ts';
import { stretches } from '../transcript/markdown.ts';
import { languageOf, MAX_CODE } from '../transcript/syntax.ts';
import { type ContentsColumn, type ContentsRow, escaped } from './page.ts';

export const PAGE_HEAD: readonly ContentsColumn[] = ['step', 'score', 'turns', 'calls', 'label', 'findings'].map(
  (title, i) => ({
    title,
    isNumber: i < 4,
  }),
);

/** A line of the page's contents. */
export function pageRow(row: DumpRecord, id: string, labels: readonly Label[]): ContentsRow {
  const { rollout } = row;
  return {
    id,
    name: row.locator,
    cells: [
      String(rollout?.step ?? row.file.step ?? '–'),
      scoreText(rollout?.score ?? null),
      String(rollout?.turns.length ?? '–'),
      rollout === null ? '–' : String(toolCallsOf(rollout).length),
      labelWords(labels),
      findingWords(row.findings),
    ],
  };
}

/** A rollout as an article of the page. @param only show only this turn */
export function rolloutArticle(
  row: DumpRecord,
  id: string,
  labels: readonly Label[],
  only: number | null = null,
): string {
  const { rollout } = row;
  const head = `<article id="${id}"><h2><a href="#${id}">${escaped(row.locator)}</a>`;
  if (rollout === null)
    return `${head}</h2><ul class="findings"><li class="error">${escaped(row.error ?? 'no rollout')}</li></ul>${folded('the record as it is in the file', row.raw)}</article>\n`;
  const turns = rollout.turns.filter(({ index }) => only === null || index === only);
  return `${head}<span class="score">${escaped(scoreText(rollout.score))}</span></h2>
${factList(rollout, row, labels)}${findingList(rollout)}${turns.map((turn) => turnSection(turn, rollout, id)).join('')}</article>\n`;
}

function factList(rollout: Rollout, { file }: DumpRecord, labels: readonly Label[]): string {
  const { step, ended, lossMask, groundTruth, rewards, extras, format } = rollout;
  const facts: [string, string][] = [
    ['step', String(step ?? file.step ?? 'unknown')],
    ['format', format],
    ['ended', END_WORD[ended.how]],
    ...(lossMask === null ? [] : [['mask', maskShare(lossMask)] as [string, string]]),
    ...(groundTruth === undefined
      ? []
      : [
          ['ground truth', laidOut(typeof groundTruth === 'string' ? groundTruth : formatJson(groundTruth))] as [
            string,
            string,
          ],
        ]),
    ...Object.entries(rewards.named ?? {}).map(([name, value]): [string, string] => [
      `reward ${name}`,
      scoreText(value),
    ]),
    ...Object.entries(extras).map(([name, value]): [string, string] => [
      name,
      shortenedText(typeof value === 'string' ? value : formatJson(value)),
    ]),
    ...labels.map((label): [string, string] => ['label', labelText(label)]),
  ];
  return `<dl class="facts">${facts.map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`).join('')}</dl>`;
}

const laidOut = (text: string): string => jsonLines(text) ?? text;

/** An extra is a word or a number; for a text, its start identifies it. */
const shortenedText = (text: string): string =>
  text.length > 600 ? `${text.slice(0, 600)} … (${formatCount(text.length)} characters)` : text;

function findingList({ findings, turns }: Rollout): string {
  if (findings.length === 0) return '';
  const items = findings.map((finding) => {
    const { severity, turn, message, check } = finding;
    const place = turn === null ? undefined : turns[turn];
    // The exception itself says more than that there was one.
    const said = check === 'tool_error' && place !== undefined ? spokenOf(finding, place, 0).trim() : '';
    const words = said === '' || message.includes(said) ? '' : `: <code>${escaped(truncate(said, MOST_SAID))}</code>`;
    return `<li class="${severity === 'error' ? 'error' : 'warning'}">${turn === null ? '' : `t${turn}: `}${escaped(message)}${words}</li>`;
  });
  return `<ul class="findings">${items.join('')}</ul>`;
}

/** Cells of the words of a failure. */
const MOST_SAID = 160;

const MASK = { true: ['trained', 'trained'], false: ['masked', 'masked'], null: ['unknown', 'mask unknown'] } as const;

function turnSection(turn: Turn, rollout: Rollout, id: string): string {
  const [kind, words] = MASK[String(turn.trained) as keyof typeof MASK];
  const mask = rollout.lossMask === null ? '' : words;
  const reward = turn.reward === null ? '' : `<span class="reward">${escaped(formatReward(turn.reward))}</span>`;
  const answered = toolCallsOf(rollout).filter(({ resultTurn }) => resultTurn === turn.index);
  const what = answered.map(({ index, name }) => `result of call ${index}, ${name ?? '?'}`).join('; ');
  const at = turn.index < rollout.responseTurn ? 'prompt' : what;
  const body = turn.parts.map((part) => partHtml(turn, part)).join('');
  return `<section class="turn ${kind}" id="${id}t${turn.index}"><h3><span>t${turn.index} ${escaped(turn.role)}</span><span class="at">${escaped(at)}</span><span class="mask">${mask}</span>${reward}</h3>${body}</section>\n`;
}

/** Longer texts that the model did not write are folded to a line; a system prompt is the same in every rollout, so it is folded sooner. */
const LONG = 4000;
const LONG_SYSTEM = 200;

function partHtml(turn: Turn, { kind, start, end, call }: Part): string {
  const text = turn.text.slice(start, end).trim();
  if (text === '') return '';
  if (kind === 'think') return folded(`reasoning, ${formatCount(text.length)} characters`, text, true);
  if (kind === 'call') {
    const found = turn.toolCalls[call ?? -1];
    const error = found?.error ?? null;
    return `<div class="call${error === null ? '' : ' broken'}"><b>call ${found?.index ?? ''} ${escaped(found?.name ?? '')}</b>${error === null ? '' : ` <span class="bad">${escaped(error)}</span>`}${found === undefined ? pre(text) : argumentsHtml(found, text)}</div>`;
  }
  if (turn.role !== 'assistant' && text.length > (turn.role === 'system' ? LONG_SYSTEM : LONG))
    return folded(`${text.slice(0, 120).replace(/\s+/g, ' ')} … ${formatCount(text.length)} characters`, text);
  return turn.role === 'tool' ? `<div class="result">${resultHtml(text)}</div>` : proseHtml(text);
}

const pre = (text: string): string => codeHtml(text, null);

const resultHtml = (text: string): string => (isJson(text) ? codeHtml(laidOut(text), 'json') : pre(text));

/** Code passed in a call is shown as code, not as an escaped string. */
function argumentsHtml({ name: tool, arguments: given, error }: ToolCall, text: string): string {
  if (error !== null || !isJsonObject(given ?? undefined)) return pre(text);
  const fields = objectIn(given);
  const rows = Object.entries(fields).map(([name, value]) => {
    const code =
      typeof value === 'string'
        ? codeHtml(value, languageOf(tool ?? '', name, fields))
        : codeHtml(formatJson(value, 2), 'json');
    return ` <i>${escaped(name)}</i>${code}`;
  });
  return rows.length === 0 ? pre(text) : rows.join('');
}

const folded = (title: string, text: string, isOpen = false): string =>
  `<details${isOpen ? ' open' : ''}><summary>${escaped(title)}</summary>${proseHtml(text)}</details>`;

/** Code with its colours; without a language, or very long, in none. */
function codeHtml(text: string, language: CodeLanguage | null): string {
  const code = sanitise(text);
  if (language === null || code.length > MAX_CODE) return `<pre>${escaped(code)}</pre>`;
  let html = '';
  let at = 0;
  for (const { start, end, style } of syntaxRanges(language, code)) {
    html += `${escaped(code.slice(at, start))}<span class="${style}">${escaped(code.slice(start, end))}</span>`;
    at = end;
  }
  return `<pre>${html}${escaped(code.slice(at))}</pre>`;
}

/** Prose, with the code between its fences as code. */
const proseHtml = (text: string): string =>
  stretches(text)
    .map(({ start, end, isCode, code }) => {
      const piece = text.slice(start, end).replace(/\n$/, '');
      return isCode ? codeHtml(piece, code) : `<pre class="prose">${escaped(piece)}</pre>`;
    })
    .join('');
