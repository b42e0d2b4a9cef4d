import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { contextTitle } from '../../core/rollout/contexts.ts';
import type { Context, Turn } from '../../core/rollout/rollout.ts';
import { sanitise, sanitiseLine } from '../../core/text/sanitise.ts';
import type { Label } from '../../replay/journal/labels.ts';
import { labelText } from './label-text.ts';

/**
 * The readable version of a rollout: `[role]`, an empty line, the text, an empty line; people's labels last. Whitespace at the end of a
 * turn is left out.
 */
export function readableText(row: DumpRecord, only: number | null = null, labels: readonly Label[] = []): string {
  if (row.rollout === null)
    return `[bad record]\n\n${sanitiseLine(row.error ?? '')}\n\n[raw]\n\n${sanitise(row.raw)}\n`;
  const { contexts } = row.rollout;
  const said = labels.length === 0 || only !== null ? '' : `\n[labels]\n\n${labels.map(labelText).join('\n')}\n`;
  const turns = turnsOf(row, only)
    .map(
      (turn, at, turns) =>
        heading(turn, turns[at - 1], contexts) + `[${sanitiseLine(turn.role)}]\n\n${sanitise(turn.text).trimEnd()}\n`,
    )
    .join('\n');
  return turns + said;
}

/** The heading where the history changes. */
function heading(turn: Turn, before: Turn | undefined, contexts: readonly Context[] | undefined): string {
  const place = turn.context ?? 0;
  const context = contexts?.[place];
  if (place === 0 || context === undefined || (before?.context ?? 0) === place) return '';
  return `[[${contextTitle(context)}]]\n\n`;
}

function turnsOf(row: DumpRecord, only: number | null): Turn[] {
  const turns = row.rollout?.turns ?? [];
  return only === null ? turns : turns.filter((turn) => turn.index === only);
}
