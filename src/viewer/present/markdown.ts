import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { isJsonObject, objectIn } from '../../core/json/value.ts';
import { END_WORD } from '../../core/rollout/ended.ts';
import type { Part, Turn } from '../../core/rollout/rollout.ts';
import { scoreText } from '../../core/text/quantities.ts';
import { sanitise, sanitiseLine } from '../../core/text/sanitise.ts';
import type { Label } from '../../replay/journal/labels.ts';
import { formatJson } from './json.ts';
import { labelText } from './label-text.ts';
import { maskShare } from './mask-share.ts';
import { formatReward } from './numbers.ts';

/**
 * A rollout as Markdown, for pasting into an issue or a document: a heading per turn; the model's answer verbatim in a quote, so that its
 * headings stay out of the page's structure; calls, results, reasoning and prompts as fenced blocks.
 */
export function markdownText(row: DumpRecord, only: number | null = null, labels: readonly Label[] = []): string {
  const title = `# ${inline(row.locator)}\n`;
  const { rollout } = row;
  if (rollout === null)
    return `${title}\n**Not a rollout:** ${inline(row.error ?? '')}\n\n${fence(sanitise(row.raw))}\n`;
  const { score, step, groundTruth, ended, lossMask, rewards, findings } = rollout;
  const facts = [
    `**score** ${scoreText(score)}`,
    `**step** ${step ?? row.file.step ?? 'unknown'}`,
    `**ended** ${END_WORD[ended.how] ?? ended.how}`,
    ...(lossMask === null ? [] : [`**mask** ${maskShare(lossMask)}`]),
    ...Object.entries(rewards.named ?? {}).map(([name, value]) => `**${inline(name)}** ${scoreText(value)}`),
    ...(typeof groundTruth === 'string' ? [`**ground truth** ${inline(groundTruth.slice(0, 200))}`] : []),
  ];
  const notes = [
    ...findings.map(
      ({ severity, turn, message }) => `- **${severity}**${turn === null ? '' : ` t${turn}`}: ${inline(message)}`,
    ),
    ...labels.map((label) => `- **label** ${inline(labelText(label))}`),
  ];
  const turns = rollout.turns.filter(({ index }) => only === null || index === only).map(turnText);
  return [title, `${facts.join(' · ')}\n`, ...(notes.length === 0 ? [] : [`${notes.join('\n')}\n`]), ...turns].join(
    '\n',
  );
}

function turnText(turn: Turn): string {
  const said = [
    turn.trained === null ? 'mask unknown' : turn.trained ? 'trained' : 'masked',
    ...(turn.reward === null ? [] : [formatReward(turn.reward)]),
  ];
  const head = `## t${turn.index} ${inline(turn.role)} (${said.join(', ')})\n`;
  const isAnswer = turn.role === 'assistant';
  const parts = turn.parts.map((part) => markdownPart(turn, part, isAnswer)).filter((text) => text !== '');
  return [head, ...parts].join('\n');
}

function markdownPart({ text, toolCalls }: Turn, { kind, start, end, call }: Part, isAnswer: boolean): string {
  const words = sanitise(text.slice(start, end)).trim();
  if (words === '') return '';
  if (kind === 'think') return `**reasoning**\n\n${fence(words)}\n`;
  if (kind === 'text') return isAnswer ? `${quote(words)}\n` : `${fence(words)}\n`;
  const found = toolCalls[call ?? -1];
  const name = `**call** ${inline(found?.name ?? 'that could not be read')}`;
  const given = found?.error === null ? found.arguments : undefined;
  if (!isJsonObject(given ?? undefined) || Object.keys(objectIn(given)).length === 0)
    return `${name}\n\n${fence(words)}\n`;
  const rows = Object.entries(objectIn(given)).map(
    ([key, value]) =>
      `**${inline(key)}**\n\n${fence(typeof value === 'string' ? sanitise(value) : sanitise(formatJson(value, 2)), typeof value === 'string' ? '' : 'json')}\n`,
  );
  return [`${name}\n`, ...rows].join('\n');
}

/** Text within a line, with all Markdown signs escaped. */
const inline = (text: string): string => sanitiseLine(text).replace(/[\\`*_[\]<>#|!&~]/g, '\\$&');

/** The model's text as Markdown that cannot leave its quote; no picture is fetched, and no tag has an effect. */
function quote(text: string): string {
  let fenced: string | null = null;
  const lines = text.split('\n').map((line) => {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
    if (fenced === null && mark !== null) fenced = mark;
    else if (fenced !== null && mark?.startsWith(fenced) === true && /^\s*[`~]+\s*$/.test(line)) fenced = null;
    else if (fenced === null) return `> ${line.replace(/<(?=[A-Za-z/!?])/g, '\\<').replaceAll('![', '!\\[')}`;
    return `> ${line}`;
  });
  return lines.join('\n').replace(/^> $/gm, '>');
}

/** A fence longer than any inside the text. */
function fence(text: string, language = ''): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2);
  const marks = '`'.repeat(longest + 1);
  return `${marks}${language}\n${text}\n${marks}`;
}
