import { printJson } from '../../core/json/print.ts';
import { type ContextNode, contextTitle, contextTree, historyAt, keptBy } from '../../core/rollout/contexts.ts';
import type { Rollout, Turn } from '../../core/rollout/rollout.ts';
import { plural } from '../../core/text/numbers.ts';
import type { Report } from './report.ts';

/** Deeper levels are not distinguished by indentation. */
const DEEPEST = 12;

/** The histories of a rollout as a tree: the branching point of each, its length, and the trained share. */
export function contextsReport(locator: string, rollout: Rollout | null): Report<ContextNode> {
  return {
    title: `the histories of ${locator}`,
    columns: [
      {
        ...{ key: 'history', title: 'history', type: 'text', width: 40, identifies: true, grows: true },
        meaning: 'its kind, name and branching point',
        value: ({ context, depth }) =>
          `${'  '.repeat(Math.min(depth, DEEPEST))}${depth > 0 ? '└ ' : ''}${contextTitle(context)}`,
      },
      {
        ...{ key: 'turns', title: 'turns', type: 'count' },
        meaning: 'its turns',
        value: ({ context: { own }, turns }) => (own === undefined ? turns.length : own.turns.length),
      },
      {
        ...{ key: 'chars', title: 'chars', type: 'count', width: 8 },
        meaning: 'characters of its turns',
        value: ({ context: { own }, chars }) =>
          own === undefined ? chars : own.turns.reduce((sum, { text }) => sum + text.length, 0),
      },
      {
        ...{ key: 'trained', title: 'trained', type: 'share', width: 8 },
        meaning: 'share of its characters that is trained on',
        value: ({ trained, chars }) => (trained === null || chars === 0 ? null : trained / chars),
      },
      {
        ...{ key: 'score', title: 'score', type: 'score', width: 7 },
        meaning: 'score of the rollout, or of a trajectory with its own',
        value: ({ context: { own }, index }) =>
          (own === undefined ? (index === 0 ? rollout?.score : null) : own.score) ?? null,
      },
      {
        ...{ key: 'kept', title: 'of the one before', type: 'text', width: 21 },
        meaning: 'turns that a compaction kept and added',
        value: ({ index }) => {
          const change = rollout === null ? null : keptBy(rollout, index);
          if (change === null) return '';
          const { kept, dropped, added } = change;
          return `kept ${kept.length} of ${kept.length + dropped.length}, added ${added.length}`;
        },
      },
    ],
    rows: rollout === null ? [] : contextTree(rollout),
    empty: 'no rollout here',
  };
}

/** A turn of the history, or the schema of a tool offered to the model. */
export type HistoryRow = { turn: Turn } | { schema: string };

/** The history before a turn: the tools offered to the model, with their schemas, then every earlier turn. */
export function historyReport(locator: string, rollout: Rollout | null, turn: number): Report<HistoryRow> {
  const turns = rollout === null ? [] : historyAt(rollout, turn);
  const tools = rollout?.toolSchemas ?? [];
  const chars = turns.reduce((sum, { text }) => sum + text.length, 0);
  return {
    title: `the model's view at t${turn} of ${locator}`,
    columns: [
      {
        ...{ key: 'turn', title: 'turn', type: 'turn', width: 6, identifies: true },
        meaning: 'number of the turn',
        value: (row) => ('turn' in row ? row.turn.index : null),
      },
      {
        ...{ key: 'role', title: 'role', type: 'text', width: 10 },
        meaning: 'its role; tool for a schema',
        value: (row) => ('turn' in row ? row.turn.role : 'tool'),
      },
      {
        ...{ key: 'chars', title: 'chars', type: 'count', width: 8 },
        meaning: 'characters of its text',
        value: (row) => ('turn' in row ? row.turn.text.length : row.schema.length),
      },
      {
        ...{ key: 'history', title: 'history', type: 'text', width: 22, hidesIfSame: true },
        meaning: 'the history that it belongs to',
        value: (row) => {
          const place = 'turn' in row ? (row.turn.context ?? 0) : 0;
          const context = rollout?.contexts?.[place];
          return context === undefined || place === 0 ? 'main history' : contextTitle(context);
        },
      },
      {
        ...{ key: 'text', title: 'text', type: 'text', width: 30, grows: true },
        meaning: 'how it begins',
        value: (row) => ('turn' in row ? row.turn.text.slice(0, 300).trim() : row.schema),
      },
    ],
    rows: [...tools.map((schema) => ({ schema: printJson(schema) })), ...turns.map((one) => ({ turn: one }))],
    notes: [
      `${tools.length === 0 ? 'no tool schemas are recorded' : plural(tools.length, 'tool')} · ${plural(chars, 'character')}`,
    ],
    empty: 'no rollout here',
  };
}
