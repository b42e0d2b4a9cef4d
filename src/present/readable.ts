import type { DumpRecord } from '../dump/dump-file.ts';
import type { Context, Turn } from '../rollout/rollout.ts';
import { sanitise, sanitiseLine } from '../text/sanitise.ts';
import { contextTitle } from './transcript/context-blocks.ts';

/** The readable version of a rollout: `[role]`, an empty line, the text, an empty line. Blanks at a turn's end are left out. */
export function readableText(row: DumpRecord, only: number | null = null): string {
  if (row.rollout === null)
    return `[bad record]\n\n${sanitiseLine(row.error ?? '')}\n\n[raw]\n\n${sanitise(row.raw)}\n`;
  const { contexts } = row.rollout;
  return turnsOf(row, only)
    .map(
      (turn, at, turns) =>
        heading(turn, turns[at - 1], contexts) + `[${sanitiseLine(turn.role)}]\n\n${sanitise(turn.text).trimEnd()}\n`,
    )
    .join('\n');
}

/** The start of another history than the one before. */
function heading(turn: Turn, before: Turn | undefined, contexts: readonly Context[] | undefined): string {
  const place = turn.context ?? 0;
  const context = contexts?.[place];
  if (place === 0 || context === undefined || (before?.context ?? 0) === place) return '';
  return `[[${contextTitle(context)}]]\n\n`;
}

/** The same as Markdown: a heading a turn, calls and results as fenced blocks, so that a transcript can be put into an issue. */
export function markdownText(row: DumpRecord, only: number | null = null): string {
  const title = `# ${sanitiseLine(row.locator)}\n`;
  if (row.rollout === null)
    return `${title}\nNot a rollout: ${sanitiseLine(row.error ?? '')}\n\n${fence(sanitise(row.raw))}\n`;
  const { score, step, groundTruth } = row.rollout;
  const facts = [`score ${score ?? 'none'}`, `step ${step ?? row.file.step ?? 'unknown'}`];
  if (typeof groundTruth === 'string') facts.push(`ground truth \`${sanitiseLine(groundTruth).slice(0, 200)}\``);
  const turns = turnsOf(row, only).map((turn) => {
    const text = sanitise(turn.text).trimEnd();
    const mask = turn.trained === null ? ' (mask unknown)' : turn.trained ? ' (trained)' : '';
    return `## ${turn.index} ${sanitiseLine(turn.role)}${mask}\n\n${turn.role === 'tool' || turn.toolCalls.length > 0 ? fence(text) : text}\n`;
  });
  return [title, `${facts.join(' · ')}\n`, ...turns].join('\n');
}

function turnsOf(row: DumpRecord, only: number | null): Turn[] {
  const turns = row.rollout?.turns ?? [];
  return only === null ? turns : turns.filter((turn) => turn.index === only);
}

/** A fence longer than any inside the text. */
function fence(text: string): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2);
  const marks = '`'.repeat(longest + 1);
  return `${marks}\n${text}\n${marks}`;
}
