import type { Place } from '../../../core/dump/dump.ts';
import { printJson } from '../../../core/json/print.ts';
import { itemAt } from '../../../core/lists/at.ts';
import { contextTree, historyAt, keptBy } from '../../../core/rollout/contexts.ts';
import type { Context, Rollout } from '../../../core/rollout/rollout.ts';
import { formatCount, plural } from '../../../core/text/numbers.ts';
import { scoreText, sizeText } from '../../../core/text/quantities.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { contextTitle } from '../../present/transcript/context-blocks.ts';
import type { Data } from '../rows/data.ts';
import type { Page } from '../rows/page.ts';
import type { PageSubject } from '../state/page.ts';

/** The histories of a rollout as a tree: where each branched from another, how long it is, how much of it is trained. */
export function contextsPage({ place }: Extract<PageSubject, { kind: 'contexts' }>, data: Data): Page {
  const { rollout, locator } = data.record(place);
  const nodes = rollout === null ? [] : contextTree(rollout);
  return {
    title: sanitiseLine(`the histories of ${locator}`),
    note: plural(nodes.length, 'history'),
    head: [
      sanitiseLine(
        `${data.keys.label('open', 'page')} reads it; ${data.keys.label('page.switch', 'page')} shows what a compaction kept, else what the model saw`,
      ),
    ],
    columns: [
      { title: 'history', width: 40, isText: true, isFixed: true, grows: true },
      { title: 'turns', width: 6 },
      { title: 'chars', width: 8 },
      { title: 'trained', width: 8 },
      { title: 'score', width: 7 },
      { title: 'of the one before', width: 21, isText: true },
    ],
    length: nodes.length,
    empty: 'no rollout here',
    sort: null,
    row: (index) => {
      const node = itemAt(nodes, index);
      const { context, turns, chars, trained, depth } = node;
      const own = context.own;
      const first = turns[0] ?? context.after;
      const last = turns.at(-1);
      return {
        cells: [
          `${'  '.repeat(Math.min(depth, 12))}${depth > 0 ? '└ ' : ''}${contextTitle(context)}`,
          formatCount(own === undefined ? turns.length : own.turns.length),
          sizeText(own === undefined ? chars : own.turns.reduce((sum, { text }) => sum + text.length, 0)),
          trained === null || chars === 0 ? '–' : `${Math.round((100 * trained) / chars)} %`,
          own === undefined ? (index === 0 ? scoreText(rollout?.score ?? null) : '–') : scoreText(own.score),
          keptText(rollout!, node.index),
        ],
        ...(first === null ? {} : { open: () => ({ type: 'page-read', place, turn: first }) }),
        ...(last === undefined
          ? {}
          : { toggle: { type: 'page-open', subject: asideOf(place, node.index, last, context.kind) } }),
      };
    },
  };
}

function asideOf(place: Place, context: number, last: number, kind: Context['kind']): PageSubject {
  return kind === 'compaction' ? { kind: 'compaction', place, context } : { kind: 'history', place, turn: last };
}

function keptText(rollout: Rollout, index: number): string {
  const change = keptBy(rollout, index);
  if (change === null) return '';
  const { kept, dropped, added } = change;
  return `kept ${kept.length} of ${kept.length + dropped.length}, added ${added.length}`;
}

/** The history before a turn: the tools offered to the model, with their schemas, then every earlier turn. */
export function historyPage({ place, turn }: Extract<PageSubject, { kind: 'history' }>, data: Data): Page {
  const { rollout, locator } = data.record(place);
  const turns = rollout === null ? [] : historyAt(rollout, turn);
  const tools = rollout?.toolSchemas ?? [];
  const chars = turns.reduce((sum, { text }) => sum + text.length, 0);
  return {
    title: sanitiseLine(`what the model saw for t${turn} of ${locator}`),
    note: plural(turns.length, 'turn'),
    head: [
      `${tools.length === 0 ? 'no tool schemas are recorded' : plural(tools.length, 'tool')} · ${sizeText(chars)} of text`,
    ],
    columns: [
      { title: 'turn', width: 6, isFixed: true },
      { title: 'role', width: 10, isText: true },
      { title: 'chars', width: 8 },
      { title: 'history', width: 22, isText: true },
      { title: 'text', width: 30, isText: true, grows: true },
    ],
    length: tools.length + turns.length,
    empty: 'no rollout here',
    sort: null,
    row: (index) => {
      if (index < tools.length) {
        const schema = printJson(tools[index]);
        return { cells: ['–', 'tool', sizeText(schema.length), 'shown to the model', sanitiseLine(schema)] };
      }
      const one = itemAt(turns, index - tools.length);
      const context = rollout?.contexts?.[one.context ?? 0];
      return {
        cells: [
          `t${one.index}`,
          sanitiseLine(one.role),
          sizeText(one.text.length),
          context === undefined || (one.context ?? 0) === 0 ? 'main history' : contextTitle(context),
          sanitiseLine(one.text.slice(0, 300)).trim(),
        ],
        open: () => ({ type: 'page-read', place, turn: one.index }),
      };
    },
  };
}
